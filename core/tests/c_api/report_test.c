// SPDX-License-Identifier: MIT
// What the C interface tells about failures, GPUs and itself, on two simulated GPUs, with
// BARMAP_LOG=info and a BARMAP_POLICY.
#include "check.h"

#include <barmap/host_buffer.h>
#include <barmap/report.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void parts_of_a_failure(void) {
    barmap_device* device = (void*)&failures;
    CHECK(strcmp(barmap_error_operation(), "") == 0 && strcmp(barmap_error_backend(), "") == 0);
    CHECK(strcmp(barmap_error_advice(), "") == 0 && barmap_error_piece() == -1);
    CHECK(barmap_error_status() == BARMAP_OK);
    CHECK(barmap_device_create(7, &device) == BARMAP_ERROR_NO_DEVICE && !device);
    CHECK(strcmp(barmap_error_operation(), "open GPU 7") == 0);
    CHECK(strcmp(barmap_error_backend(), "") == 0);
    CHECK(strcmp(barmap_error_advice(), "CUDA shows the GPUs 0 to 1") == 0);
    CHECK(barmap_device_create(0, &device) == BARMAP_OK);
    CHECK(strcmp(barmap_error_operation(), "open GPU 7") == 0); // a success leaves it
    CHECK(barmap_error_status() == BARMAP_ERROR_NO_DEVICE);
    barmap_device_destroy(device);
}

static void the_piece_that_was_refused(void) {
    barmap_device* gpu = NULL;
    barmap_batch_queue* queue = NULL;
    barmap_pin* pin = NULL;
    CHECK(barmap_device_create(0, &gpu) == BARMAP_OK);
    CHECK(barmap_pin_allocate(gpu, 4096, NULL, &pin) == BARMAP_OK);
    CHECK(barmap_batch_queue_create(gpu, &queue) == BARMAP_OK);
    uint64_t const at = barmap_pin_gpu_address(pin);
    barmap_copy_piece const pieces[] = {
        {at, at + 1024, 64}, {at + 64, at + 2048, 64}, {at + 128, 0, 64}};
    CHECK(barmap_batch_queue_submit(queue, pieces, 3, NULL, NULL) == BARMAP_ERROR_INVALID_ARGUMENT);
    CHECK(barmap_error_piece() == 2);
    CHECK(strcmp(barmap_error_operation(), "copy piece 2 of a batch") == 0);
    CHECK(barmap_batch_queue_submit(NULL, pieces, 3, NULL, NULL) == BARMAP_ERROR_INVALID_ARGUMENT);
    CHECK(barmap_error_piece() == -1);
    CHECK(strcmp(barmap_error_advice(), "create a batch queue first") == 0);
    barmap_batch_queue_destroy(queue);
    barmap_pin_destroy(pin);
    barmap_device_destroy(gpu);
}

static void* others_failure(void* unused) {
    (void)unused;
    CHECK(strcmp(barmap_error_operation(), "") == 0 && barmap_error_piece() == -1);
    CHECK(barmap_error_status() == BARMAP_OK);
    return NULL;
}

static int is_cause(int status, int cause, char const* expected) {
    char text[BARMAP_CAUSE_TEXT_BYTES];
    memset(text, 'x', sizeof text);
    barmap_cause_text(status, cause, text, sizeof text);
    if (memchr(text, 0, sizeof text) && strcmp(text, expected) == 0)
        return 1;
    fprintf(stderr, "%d %d: %.*s\n", status, cause, (int)sizeof text, text);
    return 0;
}

static void causes_in_words(void) {
    CHECK(is_cause(BARMAP_ERROR_CUDA, 2, "CUDA_ERROR_OUT_OF_MEMORY"));
    CHECK(is_cause(BARMAP_ERROR_CUDA, 12345, "CUresult 12345"));
    CHECK(is_cause(BARMAP_ERROR_VULKAN, -2, "VK_ERROR_OUT_OF_DEVICE_MEMORY"));
    CHECK(is_cause(BARMAP_ERROR_VULKAN, -12345, "VkResult -12345"));
    CHECK(is_cause(BARMAP_ERROR_RM, 0x51, "NV_ERR_NO_MEMORY"));
    CHECK(is_cause(BARMAP_ERROR_RM, 0x3039, "NV_STATUS 0x3039"));
    CHECK(is_cause(BARMAP_ERROR_OUT_OF_RANGE, 77, "out of range")); // whatever the cause
    CHECK(is_cause(9999, 0, "unknown barmap error 9999"));
    for (int status = BARMAP_ERROR_INVALID_ARGUMENT; status <= BARMAP_ERROR_NOT_STARTED; ++status) {
        char text[BARMAP_CAUSE_TEXT_BYTES] = "";
        barmap_cause_text(status, 1, text, sizeof text);
        CHECK(strlen(text) > 0);
    }
    char text[] = "abcdefgh";
    barmap_cause_text(BARMAP_ERROR_CUDA, 2, text, 6); // is cut
    CHECK(strcmp(text, "CUDA_") == 0 && text[6] == 'g');
    barmap_cause_text(BARMAP_ERROR_CUDA, 2, text, 1);
    CHECK(text[0] == 0 && text[1] == 'U');
    text[0] = 'a';
    barmap_cause_text(BARMAP_ERROR_CUDA, 2, text, 0);
    CHECK(text[0] == 'a');
}

static void drivers_that_are_known(void) {
    CHECK(barmap_driver_known_from("580.159.04") == BARMAP_DRIVER_HEADERS);
    CHECK(barmap_driver_known_from("1.2.3") == BARMAP_DRIVER_UNKNOWN);
    CHECK(barmap_driver_known_from("") == BARMAP_DRIVER_UNKNOWN);
    CHECK(barmap_driver_known_from("no version") == BARMAP_DRIVER_UNKNOWN);
}

static void the_driver_is_the_one_that_barmap_calls(void) {
    barmap_driver driver = {.size = sizeof driver};
    CHECK(barmap_driver_load(&driver) == BARMAP_OK);
    CHECK(driver.size == sizeof driver && strcmp(driver.problem, "") == 0);
    CHECK(driver.is_initialised == 1 && driver.result_of_init == 0 && driver.simulated == 1);
    CHECK(driver.version >= 13000); // of CUDA 13.0
    CHECK(driver.library && dlsym(driver.library, "cuInit") != NULL);
    size_t files = 0;
    while (barmap_driver_file(files))
        CHECK(strstr(barmap_driver_file(files++), "libcuda.so.1") != NULL);
    CHECK(files > 0 && barmap_driver_file(SIZE_MAX) == NULL);
    struct {
        barmap_driver known;
        char unknown[8];
    } newer = {.unknown = "unknown"};
    newer.known.size = sizeof newer;
    CHECK(barmap_driver_load(&newer.known) == BARMAP_OK && newer.known.library == driver.library);
    CHECK(newer.unknown[0] == 0);
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_driver_load(NULL));
    driver.size = 8;
    REFUSED_WITHOUT_OUTPUT("sizeof(barmap_driver)", barmap_driver_load(&driver));
}

// The functions that return no status leave it with the message.
static void what_a_name_without_a_status_says(void) {
    barmap_device* device = NULL;
    CHECK(barmap_device_create(99, &device) == BARMAP_ERROR_NO_DEVICE);
    CHECK(strcmp(barmap_batch_queue_engine(NULL), "") == 0);
    CHECK(barmap_error_status() == BARMAP_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(barmap_error_message(), "create a batch queue first") != NULL);
}

static void what_a_gpu_is(void) {
    barmap_device *current = NULL, *second = NULL;
    CHECK(barmap_device_create_current(&current) == BARMAP_OK);
    CHECK(barmap_device_create(1, &second) == BARMAP_OK);
    CHECK(barmap_device_ordinal(current) == 0 && barmap_device_ordinal(second) == 1);
    CHECK(strlen(barmap_device_pci_address(current)) == strlen("0000:65:00.0"));
    CHECK(strcmp(barmap_device_pci_address(current), barmap_device_pci_address(second)) != 0);
    CHECK(barmap_device_driver_version(current) >= 13000); // of CUDA 13.0
    CHECK(barmap_device_simulated(current) == 1);
    uint64_t total = 0, available = 0;
    CHECK(barmap_device_bar1(second, &total, &available) == BARMAP_OK);
    CHECK(available <= total); // of a simulated GPU no backend reports it: see rm_test
    CHECK(barmap_device_bar1(NULL, &total, &available) == BARMAP_ERROR_INVALID_ARGUMENT);
    CHECK(total == 0 && available == 0);
    CHECK(strcmp(barmap_error_operation(), "read the size of BAR1") == 0);
    total = available = 7;
    CHECK(barmap_device_bar1(second, NULL, &available) == BARMAP_ERROR_INVALID_ARGUMENT);
    CHECK(barmap_device_bar1(second, &total, NULL) == BARMAP_ERROR_INVALID_ARGUMENT);
    CHECK(total == 0 && available == 0);
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_device_create_current(NULL));
    barmap_device_destroy(current);
    barmap_device_destroy(second);
}

static void what_is_pinned(void) {
    static char ordinary[64];
    CHECK(barmap_is_pinned(ordinary, sizeof ordinary) == 0);
    CHECK(barmap_is_pinned(NULL, 0) == 1);
    barmap_device* gpu = NULL;
    barmap_host_buffer* buffer = NULL;
    size_t const page = (size_t)sysconf(_SC_PAGESIZE);
    CHECK(barmap_device_create(0, &gpu) == BARMAP_OK);
    CHECK(barmap_host_buffer_create(gpu, 2 * page, &buffer) == BARMAP_OK);
    char* const pinned = barmap_host_buffer_data(buffer);
    CHECK(barmap_is_pinned(pinned + 1, 2 * page - 1) == 1);
    CHECK(barmap_is_pinned(pinned, (size_t)1 << 40) == 0); // beyond any memory of this test
    barmap_host_buffer_destroy(buffer);
    barmap_device_destroy(gpu);
}

static void what_the_environment_says(void) {
    CHECK(strcmp(barmap_setting("BARMAP_SIM"), "1") == 0);
    CHECK(barmap_setting("BARMAP_COPY") == NULL);
    CHECK(barmap_setting("HOME") == NULL && barmap_setting(NULL) == NULL);
    CHECK(barmap_settings_check() == BARMAP_OK);
    size_t value = 0;
    CHECK(barmap_policy_value("short_pieces", &value) == BARMAP_OK && value == 5);
    CHECK(barmap_policy_value("short_piece", &value) == BARMAP_ERROR_INVALID_ARGUMENT &&
          value == 0);
    CHECK(strstr(barmap_error_advice(), "barmap info --verbose") != NULL);
    CHECK(barmap_policy_value(NULL, &value) == BARMAP_ERROR_INVALID_ARGUMENT);
    CHECK(barmap_policy_value("short_pieces", NULL) == BARMAP_ERROR_INVALID_ARGUMENT);
}

// What is written to stderr by then is in the file.
static size_t printed_by(int level, char const* text, char* into, size_t most) {
    FILE* const file = tmpfile();
    int const before = dup(2);
    CHECK(file && before >= 0 && dup2(fileno(file), 2) == 2);
    barmap_log_line(level, text);
    CHECK(dup2(before, 2) == 2 && close(before) == 0);
    rewind(file);
    size_t const count = fread(into, 1, most - 1, file);
    into[count] = '\0';
    fclose(file);
    return count;
}

static void lines_of_the_log(void) {
    char text[100];
    CHECK(barmap_log_threshold() == BARMAP_LOG_INFO);
    printed_by(BARMAP_LOG_INFO, "staging is off", text, sizeof text);
    CHECK(strcmp(text, "barmap info: staging is off\n") == 0);
    CHECK(printed_by(BARMAP_LOG_DEBUG, "staging is off", text, sizeof text) == 0);
    static int const none[] = {BARMAP_LOG_OFF, -1, 3};
    for (size_t i = 0; i < sizeof none / sizeof *none; ++i)
        CHECK(printed_by(none[i], "staging is off", text, sizeof text) == 0);
    CHECK(printed_by(BARMAP_LOG_INFO, NULL, text, sizeof text) == 0);
}

static void a_forked_child_may_ask(barmap_device* gpu) {
    pid_t const child = fork();
    if (child == 0) {
        failures = 0;
        barmap_device* device;
        uint64_t total, available;
        CHECK(barmap_device_ordinal(gpu) == 0 && barmap_device_simulated(gpu) == 1);
        what_the_environment_says();
        REFUSED(BARMAP_ERROR_FORKED_CHILD, "parent", device, barmap_device_create_current(&device));
        CHECK(barmap_device_bar1(gpu, &total, &available) == BARMAP_ERROR_FORKED_CHILD);
        _exit(failures);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char** argv) {
    (void)argv;
    if (argc > 1) { // BARMAP_SIM has a value that is not allowed
        CHECK(barmap_settings_check() == BARMAP_ERROR_INVALID_ARGUMENT);
        CHECK(strcmp(barmap_error_operation(), "use BARMAP_SIM=maybe") == 0);
        CHECK(strcmp(barmap_error_advice(), "allowed are 0, 1") == 0);
        CHECK(barmap_is_pinned(&failures, sizeof failures) == 0); // without CUDA
        barmap_driver driver = {.size = sizeof driver};
        REFUSED_WITHOUT_OUTPUT("allowed are 0, 1", barmap_driver_load(&driver));
        return failures != 0;
    }
    parts_of_a_failure();
    the_piece_that_was_refused();
    pthread_t other;
    CHECK(pthread_create(&other, NULL, others_failure, NULL) == 0 &&
          pthread_join(other, NULL) == 0);
    causes_in_words();
    drivers_that_are_known();
    the_driver_is_the_one_that_barmap_calls();
    what_a_name_without_a_status_says();
    what_a_gpu_is();
    what_is_pinned();
    what_the_environment_says();
    lines_of_the_log();
    barmap_device* gpu = NULL;
    CHECK(barmap_device_create(0, &gpu) == BARMAP_OK);
    a_forked_child_may_ask(gpu);
    barmap_device_destroy(gpu);
    return failures != 0;
}
