// SPDX-License-Identifier: MIT
// Every list of the C interface, on two simulated GPUs: its rows, its end, and each refusal.
#include <barmap/list.h>
#include <barmap/report.h>

#include "check.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int const invalid = BARMAP_ERROR_INVALID_ARGUMENT;

static barmap_device* gpu;
static barmap_pin* memory;

static int is_text(char const* text) {
    return text && strlen(text) > 0;
}

// A list whose row behind the last is NULL, as is any beyond.
static size_t count_of(barmap_list const* list) {
    size_t const count = barmap_list_count(list);
    for (size_t i = 0; i < count; ++i)
        CHECK(barmap_list_row(list, i) != NULL);
    CHECK(barmap_list_row(list, count) == NULL && barmap_list_row(list, SIZE_MAX) == NULL);
    return count;
}

static void names_end_with_null(void) {
    size_t backends = 0, engines = 0;
    while (is_text(barmap_backend_name(backends)))
        ++backends;
    while (is_text(barmap_engine_name(engines)))
        ++engines;
    CHECK(backends == 4 && engines == 2);
    CHECK(barmap_backend_name(backends) == NULL && barmap_backend_name(SIZE_MAX) == NULL);
    CHECK(barmap_engine_name(engines) == NULL && barmap_engine_name(SIZE_MAX) == NULL);
    CHECK(strcmp(barmap_engine_name(0), "channel") == 0 && strcmp(barmap_engine_name(1), "driver") == 0);
}

static void copy_routines(void) {
    barmap_list* list = NULL;
    CHECK(barmap_list_copy_routines(&list) == BARMAP_OK);
    size_t const count = count_of(list);
    size_t supported = 0;
    for (size_t i = 0; i < count; ++i) {
        barmap_copy_routine_row const* const row = barmap_list_row(list, i);
        CHECK(is_text(row->name) && row->needs && (row->supported == 0 || row->supported == 1));
        supported += (size_t)row->supported;
    }
    CHECK(supported > 0);
    barmap_list_destroy(list);
}

static void policies(void) {
    barmap_list* list = NULL;
    CHECK(barmap_list_policies(&list) == BARMAP_OK);
    size_t const count = count_of(list);
    size_t from_the_environment = 0;
    CHECK(count > 3);
    for (size_t i = 0; i < count; ++i) {
        barmap_policy_row const* const row = barmap_list_row(list, i);
        size_t value = ~row->value;
        CHECK(is_text(row->name) && is_text(row->unit) && is_text(row->why));
        CHECK(row->least <= row->value && row->value <= row->most);
        CHECK(barmap_policy_value(row->name, &value) == BARMAP_OK && value == row->value);
        if (strcmp(row->from, "BARMAP_POLICY") == 0) {
            CHECK(strcmp(row->name, "short_pieces") == 0 && row->value == 5);
            ++from_the_environment;
        } else {
            CHECK(strcmp(row->from, "default") == 0 || strcmp(row->from, "fixed") == 0);
        }
    }
    CHECK(from_the_environment == 1);
    barmap_list_destroy(list);
}

static void settings(void) {
    barmap_list* list = NULL;
    CHECK(barmap_list_settings(&list) == BARMAP_OK);
    size_t const count = count_of(list);
    size_t found = 0;
    for (size_t i = 0; i < count; ++i) {
        barmap_setting_row const* const row = barmap_list_row(list, i);
        CHECK(strncmp(row->name, "BARMAP_", 7) == 0 && is_text(row->allowed) && is_text(row->meaning));
        char const* const value = barmap_setting(row->name);
        CHECK((value != NULL) == (strcmp(row->from, "environment") == 0));
        if (value) {
            CHECK(strcmp(value, row->value) == 0);
            ++found;
        }
    }
    CHECK(found >= 2); // BARMAP_SIM and BARMAP_POLICY
    barmap_list_destroy(list);
}

static void check_backend(barmap_backend_row const* row) {
    CHECK(is_text(row->name) && is_text(row->reason) && row->advice);
    CHECK(row->state >= BARMAP_USABLE && row->state <= BARMAP_BROKEN);
    CHECK((row->state == BARMAP_USABLE) == (strlen(row->advice) == 0));
    CHECK(row->start_us >= 0 && row->pin_count > 0);
    CHECK((row->flags & BARMAP_BACKEND_HAS_MODULE) == 0); // of simulated GPUs there is none
    for (size_t i = 0; i < row->pin_count; ++i)
        CHECK(row->pins[i] >= BARMAP_MEMORY_DEVICE && row->pins[i] <= BARMAP_MEMORY_UNKNOWN);
    CHECK(row->state == BARMAP_USABLE || row->kind_count == 0);
    for (size_t i = 0; i < row->kind_count; ++i)
        CHECK(row->kinds[i].reason && (row->kinds[i].usable == 0 || row->kinds[i].usable == 1));
}

static void backends(void) {
    barmap_list *list = NULL, *started = NULL, *probed = NULL;
    CHECK(barmap_device_list_backends(gpu, 0, &started) == BARMAP_OK);
    CHECK(barmap_device_list_backends(gpu, 1, &list) == BARMAP_OK);
    CHECK(barmap_list_probed_backends(0, &probed) == BARMAP_OK);
    size_t const count = count_of(list);
    size_t usable = 0;
    for (size_t i = 0; i < count; ++i) {
        barmap_backend_row const* const row = barmap_list_row(list, i);
        CHECK(strcmp(row->name, barmap_backend_name(i)) == 0);
        check_backend(row);
        if (row->state != BARMAP_USABLE)
            continue;
        ++usable;
        CHECK(row->kind_count > 0);
        CHECK((row->flags & ~(unsigned)(BARMAP_BACKEND_PERSISTENT | BARMAP_BACKEND_FORCES_PCIE |
                                        BARMAP_BACKEND_EVENTS | BARMAP_BACKEND_ALLOCATES)) == 0);
    }
    CHECK(usable > 0 && barmap_backend_name(count) == NULL);
    CHECK(count_of(started) > 0 && barmap_list_count(started) <= count);
    CHECK(count_of(probed) > 0 && barmap_list_count(probed) < count);
    barmap_list_destroy(started);
    CHECK(barmap_device_list_backends(gpu, 0, &started) == BARMAP_OK);
    CHECK(barmap_list_count(started) == count); // all have been started by now
    barmap_list_destroy(list);
    barmap_list_destroy(started);
    barmap_list_destroy(probed);
}

static void check_engines(barmap_list const* list, size_t expected) {
    CHECK(count_of(list) == expected);
    for (size_t i = 0; i < barmap_list_count(list); ++i) {
        barmap_engine_row const* const row = barmap_list_row(list, i);
        CHECK(strcmp(row->name, barmap_engine_name(i)) == 0 && is_text(row->reason));
        CHECK((row->state == BARMAP_USABLE) == (strlen(row->advice) == 0));
        CHECK(row->failures == 0 && (row->copies > 0 || row->bytes == 0));
    }
}

// How many copies the engines of a list have made.
static uint64_t copies_of(barmap_list* list) {
    uint64_t copies = 0;
    for (size_t i = 0; i < barmap_list_count(list); ++i)
        copies += ((barmap_engine_row const*)barmap_list_row(list, i))->copies;
    barmap_list_destroy(list);
    return copies;
}

static void engines(void) {
    barmap_list *list = NULL, *of_pin = NULL, *of_queue = NULL;
    CHECK(barmap_device_list_engines(gpu, 0, &list) == BARMAP_OK && count_of(list) == 0);
    barmap_list_destroy(list);
    CHECK(barmap_device_list_engines(gpu, 1, &list) == BARMAP_OK);
    check_engines(list, 2);
    barmap_list_destroy(list);
    CHECK(barmap_device_list_engines(gpu, 0, &list) == BARMAP_OK);
    check_engines(list, 2);
    barmap_list_destroy(list);
    CHECK(barmap_pin_list_engines(memory, &of_pin) == BARMAP_OK);
    check_engines(of_pin, 2);
    CHECK(((barmap_engine_row const*)barmap_list_row(of_pin, 1))->state == BARMAP_USABLE);
    barmap_list_destroy(of_pin);

    barmap_batch_queue* queue = NULL;
    uint64_t const at = barmap_pin_gpu_address(memory);
    uint64_t ticket = 0;
    int done = 0;
    barmap_copy_piece const piece = {at + 4096, at, 100};
    CHECK(barmap_batch_queue_create(gpu, &queue) == BARMAP_OK);
    CHECK(barmap_batch_queue_list_engines(queue, &of_queue) == BARMAP_OK);
    CHECK(count_of(of_queue) > 0 && copies_of(of_queue) == 0);
    CHECK(barmap_batch_queue_submit(queue, &piece, 1, NULL, &ticket) == BARMAP_OK);
    CHECK(barmap_batch_queue_wait(queue, ticket, UINT64_MAX, &done) == BARMAP_OK && done == 1);
    CHECK(barmap_batch_queue_list_engines(queue, &of_queue) == BARMAP_OK);
    CHECK(copies_of(of_queue) == 1);
    barmap_batch_queue_destroy(queue);
}

static void crossovers(void) {
    barmap_list* list = NULL;
    CHECK(barmap_device_list_crossovers(gpu, barmap_pin_backend(memory), &list) == BARMAP_OK);
    size_t const count = count_of(list);
    size_t by_mapping = 0;
    for (size_t i = 0; i < count; ++i) {
        barmap_crossover_row const* const row = barmap_list_row(list, i);
        CHECK(is_text(row->method));
        CHECK(row->direction == BARMAP_TO_GPU || row->direction == BARMAP_TO_CPU);
        CHECK((row->pinned == 0 || row->pinned == 1) && (row->of_cuda_malloc == 0 || row->of_cuda_malloc == 1));
        if (row->from_bytes == 0) {
            CHECK(strcmp(row->method, "mapping") == 0);
            ++by_mapping;
        }
    }
    CHECK(by_mapping >= 4); // each direction, with host memory of each kind
    barmap_list_destroy(list);
}

static void every_refusal(void) {
    barmap_list* list;
    REFUSED(invalid, "create a device", list, barmap_device_list_backends(NULL, 1, &list));
    REFUSED(invalid, "create a device", list, barmap_device_list_backends(NULL, 0, &list));
    REFUSED(invalid, "create a device", list, barmap_device_list_engines(NULL, 1, &list));
    REFUSED(invalid, "create a device", list, barmap_device_list_crossovers(NULL, "rm", &list));
    REFUSED(invalid, "name a backend, not NULL", list, barmap_device_list_crossovers(gpu, NULL, &list));
    REFUSED(invalid, "the backends are", list, barmap_device_list_crossovers(gpu, "nonsense", &list));
    REFUSED(BARMAP_ERROR_BACKEND_ABSENT, "gdrdrv", list,
            barmap_device_list_crossovers(gpu, "gdrdrv", &list));
    REFUSED(invalid, "pin some memory", list, barmap_pin_list_engines(NULL, &list));
    REFUSED(invalid, "create a batch queue", list, barmap_batch_queue_list_engines(NULL, &list));
    REFUSED(BARMAP_ERROR_NO_DEVICE, "GPU 2", list, barmap_list_probed_backends(2, &list));
    REFUSED(BARMAP_ERROR_NO_DEVICE, "GPU -1", list, barmap_list_probed_backends(-1, &list));

    static char const sentence[] = "pass a pointer for the list, not NULL";
    barmap_batch_queue* queue = NULL;
    CHECK(barmap_batch_queue_create(gpu, &queue) == BARMAP_OK);
    REFUSED_WITHOUT_OUTPUT(sentence, barmap_device_list_backends(gpu, 1, NULL));
    REFUSED_WITHOUT_OUTPUT(sentence, barmap_device_list_engines(gpu, 1, NULL));
    REFUSED_WITHOUT_OUTPUT(sentence, barmap_device_list_crossovers(gpu, "rm", NULL));
    REFUSED_WITHOUT_OUTPUT(sentence, barmap_pin_list_engines(memory, NULL));
    REFUSED_WITHOUT_OUTPUT(sentence, barmap_batch_queue_list_engines(queue, NULL));
    REFUSED_WITHOUT_OUTPUT(sentence, barmap_list_probed_backends(0, NULL));
    REFUSED_WITHOUT_OUTPUT(sentence, barmap_list_kernel_module(NULL));
    REFUSED_WITHOUT_OUTPUT(sentence, barmap_list_copy_routines(NULL));
    REFUSED_WITHOUT_OUTPUT(sentence, barmap_list_policies(NULL));
    REFUSED_WITHOUT_OUTPUT(sentence, barmap_list_settings(NULL));
    barmap_batch_queue_destroy(queue);
    barmap_list_destroy(NULL);
}

// This machine may have the module, or not.
static void the_kernel_module(void) {
    barmap_list* list = (void*)&failures;
    int const status = barmap_list_kernel_module(&list);
    if (status != BARMAP_OK) {
        CHECK(status == BARMAP_ERROR_SYSTEM || status == BARMAP_ERROR_UNKNOWN_LAYOUT);
        CHECK(list == NULL && barmap_error_status() == status);
        return;
    }
    CHECK(count_of(list) == 1);
    barmap_backend_row const* const row = barmap_list_row(list, 0);
    CHECK((row->flags & BARMAP_BACKEND_HAS_MODULE) != 0 && row->module_major > 0);
    CHECK(strcmp(row->advice, "") == 0);
    barmap_list_destroy(list);
}

static void a_forked_child_may_ask_what_names_no_gpu(void) {
    pid_t const child = fork();
    if (child == 0) {
        failures = 0;
        int const forked = BARMAP_ERROR_FORKED_CHILD;
        barmap_list* list;
        names_end_with_null();
        copy_routines();
        policies();
        settings();
        REFUSED(forked, "parent", list, barmap_device_list_backends(gpu, 1, &list));
        REFUSED(forked, "parent", list, barmap_device_list_engines(gpu, 1, &list));
        REFUSED(forked, "parent", list, barmap_pin_list_engines(memory, &list));
        _exit(failures);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
    names_end_with_null();
    copy_routines();
    policies();
    settings();
    the_kernel_module();
    if (barmap_device_create(0, &gpu) || barmap_pin_allocate(gpu, 1 << 20, "", &memory)) {
        fprintf(stderr, "%s\n", barmap_error_message());
        return 1;
    }
    engines();
    backends();
    crossovers();
    every_refusal();
    a_forked_child_may_ask_what_names_no_gpu();
    barmap_list* kept = NULL;
    CHECK(barmap_device_list_backends(gpu, 1, &kept) == BARMAP_OK);
    barmap_pin_destroy(memory);
    barmap_device_destroy(gpu);
    check_backend(barmap_list_row(kept, 0)); // a list needs no other handle
    barmap_list_destroy(kept);
    return failures != 0;
}
