// SPDX-License-Identifier: MIT
// The C interface on two simulated GPUs: each function, each refusal with its sentence, whose
// message it is, what options may be, and handles that go in any order.
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { size = 4 << 20 };

static barmap_device* gpu;
static barmap_pin* memory; // of that GPU

static void first_words(void) {
    CHECK(strcmp(barmap_error_message(), "") == 0);
    CHECK(barmap_error_cause() == 0);
    CHECK(strcmp(barmap_version(), VERSION) == 0);
    CHECK(barmap_device_count() == 2);
}

static void every_way_of_copying(void) {
    barmap_mapping* map = NULL;
    CHECK(barmap_mapping_create(memory, &map) == BARMAP_OK);
    CHECK(barmap_mapping_size(map) == size && barmap_pin_size(memory) == size);
    CHECK(barmap_pin_gpu_address(memory) != 0);
    CHECK(barmap_mapping_kind(map) == BARMAP_CACHED);
    CHECK(strlen(barmap_pin_backend(memory)) > 0);
    CHECK(strlen(barmap_device_name(gpu)) > 0);
    unsigned char* const at = barmap_mapping_data(map);

    static unsigned char written[10000], back[sizeof written];
    for (size_t i = 0; i < sizeof written; ++i)
        written[i] = (unsigned char)(i * 31 + i / 256 + 1);
    barmap_mapping_write(map, 4097, written, sizeof written);
    CHECK(memcmp(at + 4097, written, sizeof written) == 0);
    barmap_mapping_read(map, back, 4097, sizeof back);
    CHECK(memcmp(back, written, sizeof back) == 0);
    barmap_mapping_write(map, size - 1, written, 1);
    CHECK(at[size - 1] == written[0]);

    barmap_mapping_post32(map, 68, 0x01020304u);
    barmap_mapping_post64(map, 72, 0x1112131415161718u);
    barmap_mapping_post_line(map, size - 64, written + 3); // of no alignment
    barmap_flush_stores();
    uint32_t word = 0;
    uint64_t longer = 0;
    barmap_order_loads();
    memcpy(&word, at + 68, sizeof word);
    memcpy(&longer, at + 72, sizeof longer);
    CHECK(word == 0x01020304u && longer == 0x1112131415161718u);
    CHECK(memcmp(at + size - 64, written + 3, 64) == 0);
    barmap_mapping_destroy(map);
}

// Of a size that no engine copies, and of one that each does where BARMAP_ENGINE names it.
static void copies_of_any_size(void) {
    static unsigned char written[300000], back[sizeof written];
    static size_t const sizes[] = {1, 1000, sizeof written};
    barmap_mapping* map = NULL;
    CHECK(barmap_mapping_create(memory, &map) == BARMAP_OK);
    unsigned char* const at = barmap_mapping_data(map);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        for (size_t k = 0; k < sizes[i]; ++k)
            written[k] = (unsigned char)(k * 37 + k / 256 + i);
        at[4096] = at[4097 + sizes[i]] = 0xee;
        CHECK(barmap_mapping_copy_to_gpu(map, 4097, written, sizes[i]) == BARMAP_OK);
        CHECK(memcmp(at + 4097, written, sizes[i]) == 0);
        CHECK(at[4096] == 0xee && at[4097 + sizes[i]] == 0xee);
        memset(back, 0, sizeof back);
        CHECK(barmap_mapping_copy_to_cpu(map, back, 4097, sizes[i]) == BARMAP_OK);
        CHECK(memcmp(back, written, sizes[i]) == 0);
    }
    barmap_mapping_post64(map, 4096, 0x2122232425262728u); // is not overtaken
    CHECK(barmap_mapping_copy_to_cpu(map, back, 4096, sizeof back) == BARMAP_OK);
    CHECK(memcmp(back, "\x28\x27\x26\x25\x24\x23\x22\x21", 8) == 0);
    CHECK(barmap_mapping_copy_to_gpu(map, size, NULL, 0) == BARMAP_OK);
    CHECK(barmap_mapping_copy_to_cpu(map, NULL, size, 0) == BARMAP_OK);
    barmap_mapping_destroy(map);
}

static void opens_what_it_shares(void) {
    barmap_pin* opened = NULL;
    barmap_mapping *given = NULL, *taken = NULL;
    int descriptor = -1;
    CHECK(barmap_pin_share(memory, &descriptor) == BARMAP_OK && descriptor >= 0);
    CHECK(barmap_pin_open_shared(descriptor, &opened) == BARMAP_OK);
    CHECK(close(descriptor) == 0);
    CHECK(barmap_pin_size(opened) == size && barmap_pin_gpu_address(opened) == 0);
    CHECK(strcmp(barmap_pin_backend(opened), barmap_pin_backend(memory)) == 0);
    CHECK(barmap_mapping_create(memory, &given) == BARMAP_OK);
    CHECK(barmap_mapping_create(opened, &taken) == BARMAP_OK);
    barmap_mapping_post64(taken, size - 8, 0x1234567890u);
    barmap_flush_stores();
    uint64_t seen = 0;
    barmap_mapping_read(given, &seen, size - 8, sizeof seen);
    CHECK(seen == 0x1234567890u);
    barmap_mapping_destroy(given);
    barmap_mapping_destroy(taken);
    barmap_pin_destroy(opened);
}

static void every_refused_copy(void) {
    static char host[8];
    barmap_mapping* map = NULL;
    CHECK(barmap_mapping_create(memory, &map) == BARMAP_OK);
    REFUSED_COPY(BARMAP_ERROR_INVALID_ARGUMENT, "cannot copy to GPU memory: invalid argument; map",
                 barmap_mapping_copy_to_gpu(NULL, 0, host, 1));
    REFUSED_COPY(BARMAP_ERROR_INVALID_ARGUMENT,
                 "cannot copy from GPU memory: invalid argument; map",
                 barmap_mapping_copy_to_cpu(NULL, host, 0, 1));
    REFUSED_COPY(BARMAP_ERROR_INVALID_ARGUMENT, "pass host memory, not NULL",
                 barmap_mapping_copy_to_gpu(map, 0, NULL, 1));
    REFUSED_COPY(BARMAP_ERROR_INVALID_ARGUMENT, "pass host memory, not NULL",
                 barmap_mapping_copy_to_cpu(map, NULL, 0, 1));
    REFUSED_COPY(BARMAP_ERROR_OUT_OF_RANGE, "stay inside the mapping",
                 barmap_mapping_copy_to_gpu(map, size - 1, host, 2));
    REFUSED_COPY(BARMAP_ERROR_OUT_OF_RANGE, "stay inside the mapping",
                 barmap_mapping_copy_to_cpu(map, host, size + 1, 0));
    REFUSED_COPY(BARMAP_ERROR_OUT_OF_RANGE, "stay inside the mapping",
                 barmap_mapping_copy_to_cpu(map, host, 1, SIZE_MAX));
    barmap_mapping_destroy(map);
}

static void every_refusal(void) {
    barmap_device* device;
    barmap_pin* pin;
    barmap_mapping* map;
    uint64_t const address = barmap_pin_gpu_address(memory);

    REFUSED(BARMAP_ERROR_NO_DEVICE, "cannot open GPU 2: no usable GPU; CUDA shows the GPUs 0 to 1",
            device, barmap_device_create(2, &device));
    REFUSED_WITHOUT_OUTPUT("cannot open a GPU: invalid argument; pass a pointer",
                           barmap_device_create(0, NULL));
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "invalid argument", device,
            barmap_device_create_from_pointer(0, &device));
    REFUSED(BARMAP_ERROR_UNSUPPORTED_MEMORY, "CUDA knows no live allocation", device,
            barmap_device_create_from_pointer((uintptr_t)&device, &device));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_device_create_from_pointer(address, NULL));

    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "cannot allocate 0 bytes", pin,
            barmap_pin_allocate(gpu, 0, NULL, &pin));
    REFUSED(BARMAP_ERROR_CUDA, "CUDA_ERROR_OUT_OF_MEMORY", pin,
            barmap_pin_allocate(gpu, (size_t)1 << 46, NULL, &pin));
    CHECK(barmap_error_cause() == 2); // CUDA_ERROR_OUT_OF_MEMORY
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "cannot allocate GPU memory: invalid argument; create a device",
            pin, barmap_pin_allocate(NULL, 1, NULL, &pin));
    CHECK(barmap_error_cause() == 0);
    REFUSED_WITHOUT_OUTPUT("cannot allocate GPU memory: invalid argument; pass a pointer",
                           barmap_pin_allocate(gpu, 1, NULL, NULL));

    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "pin 0 bytes", pin,
            barmap_pin_create(gpu, address, 0, NULL, &pin));
    REFUSED(BARMAP_ERROR_OUT_OF_RANGE, "the allocation ends at", pin,
            barmap_pin_create(gpu, address, size + 1, NULL, &pin));
    REFUSED(BARMAP_ERROR_UNSUPPORTED_MEMORY, "CUDA knows no live allocation", pin,
            barmap_pin_create(gpu, (uintptr_t)&device, 1, NULL, &pin));
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "cannot pin GPU memory: invalid argument; create a device", pin,
            barmap_pin_create(NULL, address, 1, NULL, &pin));
    REFUSED_WITHOUT_OUTPUT("cannot pin GPU memory: invalid argument; pass a pointer",
                           barmap_pin_create(gpu, address, 1, NULL, NULL));
    unsigned char const handle[64] = {0};
    REFUSED(BARMAP_ERROR_BACKEND_ABSENT, "from another process", pin,
            barmap_pin_create_ipc(gpu, handle, 0, 1, NULL, &pin));
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "a size greater than 0", pin,
            barmap_pin_create_ipc(gpu, handle, 0, 0, NULL, &pin));
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "give the 64 bytes", pin,
            barmap_pin_create_ipc(gpu, NULL, 0, 1, NULL, &pin));
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "create a device", pin,
            barmap_pin_create_ipc(NULL, handle, 0, 1, NULL, &pin));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_pin_create_ipc(gpu, handle, 0, 1, NULL, NULL));
    int descriptor = 0;
    CHECK(barmap_pin_share(NULL, &descriptor) == BARMAP_ERROR_INVALID_ARGUMENT && descriptor == -1);
    CHECK(strstr(barmap_error_message(), "pin some memory first") != NULL);
    REFUSED_WITHOUT_OUTPUT("pass a pointer for the descriptor", barmap_pin_share(memory, NULL));
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "as it was received", pin,
            barmap_pin_open_shared(-1, &pin));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_pin_open_shared(-1, NULL));
    CHECK(barmap_device_create(1, &device) == BARMAP_OK);
    REFUSED(BARMAP_ERROR_WRONG_DEVICE, "map memory of GPU 0 through GPU 1", pin,
            barmap_pin_create(device, address, 1, NULL, &pin));
    barmap_device_destroy(device);

    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "cannot map GPU memory: invalid argument; pin", map,
            barmap_mapping_create(NULL, &map));
    REFUSED_WITHOUT_OUTPUT("cannot map GPU memory: invalid argument; pass a pointer",
                           barmap_mapping_create(memory, NULL));
}

// Options of a version to come, of which this library does not know the end.
struct longer_options {
    barmap_pin_options known;
    uint64_t unknown[2];
};

static int pin_with(void const* options, barmap_pin** out) {
    return barmap_pin_create(gpu, barmap_pin_gpu_address(memory) + 100, 1000, options, out);
}

static void options_of_every_size(void) {
    _Static_assert(sizeof(barmap_pin_options) == 40, "all of it is members");
    barmap_pin* pin;
    static size_t const wrong[] = {0, 4, 12, 23, 25, 41, 4104, SIZE_MAX, SIZE_MAX - 7};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        barmap_pin_options const how = {wrong[i], NULL, 0, 0, 0};
        REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "sizeof(barmap_pin_options)", pin,
                pin_with(&how, &pin));
    }

    // What a shorter structure lacks is 0, whatever lies behind it.
    barmap_pin_options shorter = {8, (char const*)1, ~(uint64_t)0, 0, 0};
    CHECK(pin_with(&shorter, &pin) == BARMAP_OK);
    barmap_pin_destroy(pin);
    shorter.size = 16;
    shorter.backend = "gdrdrv"; // of which no simulated GPU has a module
    REFUSED(BARMAP_ERROR_BACKEND_ABSENT, "gdrdrv", pin, pin_with(&shorter, &pin));

    struct longer_options longer = {{sizeof longer, "", BARMAP_PIN_FORCE_PCIE, 0, 0}, {0, 0}};
    CHECK(pin_with(&longer, &pin) == BARMAP_OK);
    CHECK(barmap_pin_size(pin) == 1000);
    barmap_pin_destroy(pin);
    longer.unknown[1] = 1;
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "this version does not know is set", pin,
            pin_with(&longer, &pin));
    longer.known.size = sizeof longer - 8; // it is not part of it any more
    CHECK(pin_with(&longer, &pin) == BARMAP_OK);
    barmap_pin_destroy(pin);
    longer.unknown[0] = 1; // the first one behind those that are known
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "this version does not know is set", pin,
            pin_with(&longer, &pin));
    static union {
        barmap_pin_options known;
        unsigned char bytes[4096];
    } longest = {{4096, NULL, 0, 0, 0}};
    CHECK(pin_with(&longest, &pin) == BARMAP_OK);
    barmap_pin_destroy(pin);
    longest.bytes[4095] = 1;
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "this version does not know is set", pin,
            pin_with(&longest, &pin));

    barmap_pin_options how = {sizeof how, NULL, BARMAP_PIN_WHOLE_PAGES, 0, 0};
    CHECK(pin_with(&how, &pin) == BARMAP_OK);
    CHECK(barmap_pin_size(pin) == 65536 && barmap_pin_gpu_address(pin) == barmap_pin_gpu_address(memory));
    barmap_pin_destroy(pin);
    for (unsigned bit = 3; bit < 64; ++bit) {
        how.flags = (uint64_t)1 << bit | BARMAP_PIN_FORCE_PCIE;
        REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "a flag that this version does not know", pin,
                pin_with(&how, &pin));
    }
    how.flags = 0;
    how.backend = "nonsense";
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "the backends are", pin, pin_with(&how, &pin));
}

static void* in_another_thread(void* ours) {
    CHECK(strcmp(barmap_error_message(), "") == 0);
    barmap_device* device;
    REFUSED(BARMAP_ERROR_NO_DEVICE, "GPU 77", device, barmap_device_create(77, &device));
    CHECK(barmap_error_message() != ours);
    return NULL;
}

static void each_thread_has_its_message(void) {
    barmap_device* device;
    REFUSED(BARMAP_ERROR_NO_DEVICE, "GPU 33", device, barmap_device_create(33, &device));
    char const* const message = barmap_error_message();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, in_another_thread, (void*)message) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(strstr(message, "GPU 33") != NULL);
    CHECK(barmap_device_create(0, &device) == BARMAP_OK);
    barmap_device_destroy(device);
    CHECK(strstr(barmap_error_message(), "GPU 33") != NULL); // a success leaves it
}

static void handles_go_in_any_order(void) {
    barmap_device_destroy(NULL);
    barmap_pin_destroy(NULL);
    barmap_mapping_destroy(NULL);

    barmap_device* device = NULL;
    barmap_pin* pin = NULL;
    barmap_mapping *map = NULL, *again = NULL;
    CHECK(barmap_device_create_from_pointer(barmap_pin_gpu_address(memory) + 1, &device) == BARMAP_OK);
    CHECK(barmap_pin_allocate(device, 65536, NULL, &pin) == BARMAP_OK);
    barmap_device_destroy(device);
    CHECK(barmap_mapping_create(pin, &map) == BARMAP_OK);
    CHECK(barmap_mapping_create(pin, &again) == BARMAP_OK);
    barmap_pin_destroy(pin);
    barmap_mapping_post64(map, 65528, 12345);
    barmap_mapping_destroy(map);
    uint64_t value = 0;
    barmap_mapping_read(again, &value, 65528, sizeof value);
    CHECK(value == 12345);
    barmap_mapping_destroy(again);
}

static void what_is_freed_is_free(void) {
    for (int i = 0; i < 100; ++i) { // of a GPU that has room for 16
        barmap_pin* pin = NULL;
        barmap_mapping* map = NULL;
        CHECK(barmap_pin_allocate(gpu, size, NULL, &pin) == BARMAP_OK);
        CHECK(barmap_mapping_create(pin, &map) == BARMAP_OK);
        if (!pin || !map)
            return;
        barmap_pin_destroy(pin);
        barmap_mapping_destroy(map);
    }
}

static void a_forked_child_is_refused(void) {
    barmap_mapping* map = NULL;
    CHECK(barmap_mapping_create(memory, &map) == BARMAP_OK);
    pid_t const child = fork();
    if (child == 0) {
        failures = 0;
        barmap_device* device;
        barmap_pin* pin;
        barmap_mapping* other;
        REFUSED(BARMAP_ERROR_FORKED_CHILD, "a forked child may only", device, barmap_device_create(0, &device));
        REFUSED(BARMAP_ERROR_FORKED_CHILD, "open descriptors of share() by open_shared()", pin,
                barmap_pin_allocate(gpu, 4096, NULL, &pin));
        REFUSED(BARMAP_ERROR_FORKED_CHILD, "parent", pin,
                barmap_pin_create(gpu, barmap_pin_gpu_address(memory), 1, NULL, &pin));
        REFUSED(BARMAP_ERROR_FORKED_CHILD, "parent", other, barmap_mapping_create(memory, &other));
        static char host[65536]; // too large for a copy that would touch the mapping
        REFUSED_COPY(BARMAP_ERROR_FORKED_CHILD, "parent",
                     barmap_mapping_copy_to_cpu(map, host, 0, sizeof host));
        barmap_mapping_destroy(map);
        barmap_pin_destroy(memory);
        barmap_device_destroy(gpu);
        _exit(failures);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    barmap_mapping_post32(map, 0, 1); // untouched by what the child freed
    barmap_mapping_destroy(map);
}

int main(int argc, char** argv) {
    (void)argv;
    first_words();
    if (argc > 1) { // BARMAP_ENGINE names one that is not there
        REFUSED(BARMAP_ERROR_BACKEND_ABSENT, "cannot use copy engine channel", gpu,
                barmap_device_create(0, &gpu));
        return failures != 0;
    }
    if (barmap_device_create(0, &gpu) || barmap_pin_allocate(gpu, size, NULL, &memory)) {
        fprintf(stderr, "%s\n", barmap_error_message());
        return 1;
    }
    every_way_of_copying();
    copies_of_any_size();
    opens_what_it_shares();
    every_refused_copy();
    every_refusal();
    options_of_every_size();
    each_thread_has_its_message();
    handles_go_in_any_order();
    what_is_freed_is_free();
    a_forked_child_is_refused();
    barmap_pin_destroy(memory);
    barmap_device_destroy(gpu);
    return failures != 0;
}
