// SPDX-License-Identifier: MIT
// Handles of GPUs, batch queues and pins through the C interface, on two simulated GPUs: what they tell,
// how many uses they have, and each refusal.
#include <barmap/report.h>

#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { size = 1 << 20, page = 65536 };
static int const invalid = BARMAP_ERROR_INVALID_ARGUMENT;

static barmap_device* gpu;
static barmap_pin* memory;

static void* driver;
static int cu(char const* name, void* a, void* b) {
    int (*function)(void*, void*) = NULL;
    *(void**)&function = dlsym(driver, name);
    return function ? function(a, b) : -1;
}

static void a_device_is_freed_with_its_last_use(void) {
    barmap_device* device = NULL;
    CHECK(barmap_device_create(1, &device) == BARMAP_OK);
    CHECK(barmap_device_retain(device) == device);
    barmap_device_destroy(device);
    CHECK(barmap_device_ordinal(device) == 1 && strlen(barmap_device_name(device)) > 0);
    barmap_device_destroy(device);
    barmap_device_destroy(NULL);
}

static void a_batch_queue_is_freed_with_its_last_use(void) {
    barmap_batch_queue* queue = NULL;
    barmap_copy_piece const piece = {barmap_pin_gpu_address(memory), barmap_pin_gpu_address(memory) + 4096, 64};
    uint64_t tickets[2] = {0, 0};
    int done = 0;
    CHECK(barmap_batch_queue_create(gpu, &queue) == BARMAP_OK);
    CHECK(barmap_batch_queue_retain(queue) == queue);
    barmap_batch_queue_destroy(queue);
    for (int i = 0; i < 2; ++i) {
        CHECK(barmap_batch_queue_submit(queue, &piece, 1, NULL, &tickets[i]) == BARMAP_OK);
        CHECK(barmap_batch_queue_wait(queue, tickets[i], UINT64_MAX, &done) == BARMAP_OK && done == 1);
    }
    CHECK(tickets[0] != tickets[1]);
    CHECK(barmap_batch_queue_of(tickets[0]) == barmap_batch_queue_of(tickets[1]));
    CHECK(barmap_batch_queue_of(0) == 0);
    CHECK(barmap_batch_queue_of(~(uint64_t)0) != barmap_batch_queue_of(tickets[0]));
    barmap_batch_queue_destroy(queue);
}

static void* ordinal_of_a_new_thread(void* second) {
    int const before = barmap_device_current();
    CHECK(cu("cuCtxSetCurrent", second, NULL) == 0);
    CHECK(before == 0 && barmap_device_current() == 1);
    barmap_device* current = NULL;
    CHECK(barmap_device_create_current(&current) == BARMAP_OK);
    CHECK(barmap_device_ordinal(current) == 1);
    barmap_device_destroy(current);
    return NULL;
}

static void the_current_gpu_is_that_of_the_thread_s_context(void) {
    void* second = NULL;
    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    CHECK(cu("cuDevicePrimaryCtxRetain", &second, (void*)1) == 0);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, ordinal_of_a_new_thread, second) == 0 && pthread_join(other, NULL) == 0);
    CHECK(barmap_device_current() == 0);
    CHECK(cu("cuDevicePrimaryCtxRelease_v2", (void*)1, NULL) == 0);
}

static void pages_find_their_gpu(void) {
    barmap_device* device = NULL;
    uint64_t const at = barmap_pin_gpu_address(memory);
    CHECK(barmap_device_create_from_pages(at + 100, 1000, &device) == BARMAP_OK);
    CHECK(barmap_device_ordinal(device) == 0);
    barmap_device_destroy(device);
    CHECK(barmap_device_create_from_pages(at + size - 1, 1, &device) == BARMAP_OK);
    barmap_device_destroy(device);
    REFUSED(BARMAP_ERROR_OUT_OF_RANGE, "the allocation ends before", device,
            barmap_device_create_from_pages(at, (size_t)1 << 40, &device));
    REFUSED(BARMAP_ERROR_UNSUPPORTED_MEMORY, "CUDA knows no live allocation", device,
            barmap_device_create_from_pages((uintptr_t)&failures, 1, &device));
    REFUSED(invalid, "cannot find the GPU that owns", device, barmap_device_create_from_pages(0, 1, &device));
    REFUSED(invalid, "cannot find the GPU that owns", device, barmap_device_create_from_pages(at, 0, &device));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_device_create_from_pages(at, 1, NULL));
}

static void a_pin_tells_what_it_pins(void) {
    uint64_t allocated = 0;
    void* first = NULL;
    barmap_pin *own = NULL, *by_name = NULL, *none, *opened = NULL;
    CHECK(barmap_pin_memory_kind(memory) == BARMAP_MEMORY_ALLOCATED);
    CHECK(cu("cuDevicePrimaryCtxRetain", &first, NULL) == 0 && cu("cuCtxSetCurrent", first, NULL) == 0);
    CHECK(cu("cuMemAlloc_v2", &allocated, (void*)page) == 0);
    CHECK(barmap_pin_create(gpu, allocated, page, NULL, &own) == BARMAP_OK);
    CHECK(barmap_pin_memory_kind(own) == BARMAP_MEMORY_DEVICE);
    CHECK(barmap_pin_allocate(gpu, 1, barmap_pin_backend(memory), &by_name) == BARMAP_OK);
    CHECK(strcmp(barmap_pin_backend(by_name), barmap_pin_backend(memory)) == 0);
    REFUSED(invalid, "the backends are", none, barmap_pin_allocate(gpu, 1, "nonsense", &none));
    REFUSED(BARMAP_ERROR_BACKEND_ABSENT, "gdrdrv", none, barmap_pin_allocate(gpu, 1, "gdrdrv", &none));

    int descriptor = -1, revoked = 7;
    CHECK(barmap_pin_share(memory, &descriptor) == BARMAP_OK);
    CHECK(barmap_pin_open_shared(descriptor, &opened) == BARMAP_OK && close(descriptor) == 0);
    CHECK(barmap_pin_memory_kind(opened) == BARMAP_MEMORY_ALLOCATED);
    CHECK(barmap_pin_revoked(opened, &revoked) == BARMAP_OK && revoked == 0);
    barmap_pin_destroy(opened);
    barmap_pin_destroy(by_name);
    barmap_pin_destroy(own);
    CHECK(cu("cuMemFree_v2", (void*)(uintptr_t)allocated, NULL) == 0);
    CHECK(cu("cuDevicePrimaryCtxRelease_v2", NULL, NULL) == 0);
}

// No simulated GPU revokes memory.
static void a_pin_without_events_has_none(void) {
    int revoked = 7, descriptor = 7, found = 7;
    barmap_pin_event event = {1, 2, 3, 4};
    static char const sentence[] = "with the option that asks for events";
    CHECK(barmap_pin_revoked(memory, &revoked) == BARMAP_OK && revoked == 0);
    REFUSED_WITHOUT_OUTPUT(sentence, barmap_pin_event_fd(memory, &descriptor));
    REFUSED_WITHOUT_OUTPUT(sentence, barmap_pin_next_event(memory, &event, &found));
    CHECK(descriptor == -1 && found == 0);
    CHECK(event.gpu_address == 0 && event.size == 0 && event.sequence == 0 && event.lost == 0);

    revoked = descriptor = found = 7;
    REFUSED_WITHOUT_OUTPUT("pin some memory first", barmap_pin_revoked(NULL, &revoked));
    REFUSED_WITHOUT_OUTPUT("pin some memory first", barmap_pin_event_fd(NULL, &descriptor));
    REFUSED_WITHOUT_OUTPUT("pin some memory first", barmap_pin_next_event(NULL, &event, &found));
    CHECK(revoked == 0 && descriptor == -1 && found == 0);
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_pin_revoked(memory, NULL));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_pin_event_fd(memory, NULL));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_pin_next_event(memory, &event, NULL));
    found = 7;
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_pin_next_event(memory, NULL, &found));
    CHECK(found == 0);
}

static void options_that_only_gdrdrv_takes(void) {
    barmap_pin* pin = NULL;
    uint64_t const at = barmap_pin_gpu_address(memory);
    barmap_pin_options how = {sizeof how, NULL, 0, ~(uint64_t)0, UINT32_MAX};
    CHECK(barmap_pin_create(gpu, at, page, &how, &pin) == BARMAP_OK); // others ignore them
    barmap_pin_destroy(pin);
    how.va_space = (uint64_t)UINT32_MAX + 1;
    REFUSED(invalid, "give a va_space of 32 bits", pin, barmap_pin_create(gpu, at, page, &how, &pin));
    how.size = offsetof(barmap_pin_options, va_space); // of a program from before that member
    CHECK(barmap_pin_create(gpu, at, page, &how, &pin) == BARMAP_OK);
    barmap_pin_destroy(pin);
    barmap_pin_options const events = {.size = sizeof events, .flags = BARMAP_PIN_EVENTS};
    REFUSED(BARMAP_ERROR_UNSUPPORTED_OPERATION, "event", pin, barmap_pin_create(gpu, at, page, &events, &pin));
}

static void a_forked_child_is_refused(void) {
    pid_t const child = fork();
    if (child == 0) {
        failures = 0;
        int const forked = BARMAP_ERROR_FORKED_CHILD;
        int revoked;
        barmap_device* device;
        barmap_pin* pin;
        REFUSED(forked, "parent", device, barmap_device_create_current(&device));
        REFUSED(forked, "parent", pin, barmap_pin_allocate(gpu, 1, NULL, &pin));
        REFUSED_COPY(forked, "parent", barmap_pin_revoked(memory, &revoked));
        CHECK(barmap_pin_memory_kind(memory) == BARMAP_MEMORY_ALLOCATED);
        barmap_device_destroy(barmap_device_retain(gpu));
        barmap_pin_destroy(memory);
        barmap_device_destroy(gpu);
        _exit(failures);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
    CHECK(barmap_device_current() == 0); // of a thread without a context
    if (barmap_device_create(0, &gpu) || barmap_pin_allocate(gpu, size, NULL, &memory)) {
        fprintf(stderr, "%s\n", barmap_error_message());
        return 1;
    }
    a_device_is_freed_with_its_last_use();
    a_batch_queue_is_freed_with_its_last_use();
    the_current_gpu_is_that_of_the_thread_s_context();
    pages_find_their_gpu();
    a_pin_tells_what_it_pins();
    a_pin_without_events_has_none();
    options_that_only_gdrdrv_takes();
    a_forked_child_is_refused();
    barmap_pin_destroy(memory);
    barmap_device_destroy(gpu);
    return failures != 0;
}
