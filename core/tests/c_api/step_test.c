// SPDX-License-Identifier: MIT
// The tensors of steps through the C interface, on a simulated GPU, which runs the library's kernels.
#include <barmap/step_tensors.h>

#include "check.h"
#include "cuda_calls.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { large = 1000, small = 8 };
static uint64_t const millisecond = 1000000, long_enough = (uint64_t)20 * 1000000000;
static int const invalid = BARMAP_ERROR_INVALID_ARGUMENT;

static barmap_device* gpu;
static barmap_pin* memory;
static barmap_mapping* map;
static unsigned char* at;
static barmap_step_tensor tensors[2]; // with a gap between them
static void* stream;

static void set_up(void) {
    if (barmap_device_create(0, &gpu) || barmap_pin_allocate(gpu, 4096, NULL, &memory) ||
        barmap_mapping_create(memory, &map)) {
        fprintf(stderr, "%s\n", barmap_error_message());
        exit(1);
    }
    at = barmap_mapping_data(map);
    uint64_t const address = barmap_pin_gpu_address(memory);
    tensors[0] = (barmap_step_tensor){address + 1, large}; // of no alignment
    tensors[1] = (barmap_step_tensor){address + 2048, small};
    stream = use_driver();
}

static void synchronize(void) {
    CHECK(cu("cuStreamSynchronize", stream, NULL) == 0);
}

static void fill(barmap_step_inputs const* inputs, int value) {
    memset(barmap_step_inputs_staging(inputs, 0), value, large);
    memset(barmap_step_inputs_staging(inputs, 1), value + 1, small);
}

// What lies around the tensors is as it was.
static int is_loaded(int value) {
    int good = at[0] == 0xee && at[large + 1] == 0xee && at[2047] == 0xee && at[2048 + small] == 0xee;
    for (size_t i = 0; i < large; ++i)
        good &= at[1 + i] == value;
    for (size_t i = 0; i < small; ++i)
        good &= at[2048 + i] == value + 1;
    return good;
}

static void each_load_gets_its_push(void) {
    barmap_step_inputs* inputs = NULL;
    CHECK(barmap_step_inputs_create(gpu, tensors, 2, 2, &inputs) == BARMAP_OK);
    if (!inputs)
        return;
    memset(at, 0xee, 4096);
    CHECK(barmap_step_inputs_bytes(inputs, 0) == large && barmap_step_inputs_bytes(inputs, 1) == small);
    for (size_t i = 0; i < 2; ++i)
        CHECK(barmap_step_inputs_staging(inputs, i) && (uintptr_t)barmap_step_inputs_staging(inputs, i) % 8 == 0);
    for (int step = 1; step < 5; ++step) {
        fill(inputs, step);
        CHECK(barmap_step_inputs_wait(inputs, long_enough) == 1);
        CHECK(barmap_step_inputs_push(inputs) == 1);
        CHECK(*(unsigned char*)barmap_step_inputs_staging(inputs, 0) == step); // it keeps its contents
        CHECK(barmap_step_inputs_enqueue_load(inputs, stream) == BARMAP_OK);
        synchronize();
        CHECK(is_loaded(step));
    }
    for (int step = 5; step < 7; ++step) {
        fill(inputs, step);
        CHECK(barmap_step_inputs_push(inputs) == 1);
    }
    CHECK(barmap_step_inputs_push(inputs) == 0); // no version is free
    CHECK(barmap_step_inputs_wait(inputs, millisecond) == 0);
    for (int step = 5; step < 7; ++step) {
        CHECK(barmap_step_inputs_enqueue_load(inputs, stream) == BARMAP_OK);
        synchronize();
        CHECK(is_loaded(step));
    }
    CHECK(barmap_step_inputs_enqueue_load(inputs, NULL) == BARMAP_OK); // before its push
    fill(inputs, 7);
    CHECK(barmap_step_inputs_push(inputs) == 1);
    CHECK(cu("cuCtxSynchronize", NULL, NULL) == 0);
    CHECK(is_loaded(7) && barmap_step_inputs_failed(inputs) == 0);
    barmap_step_inputs_destroy(inputs);
}

static void each_pop_gets_a_store(void) {
    barmap_step_outputs* outputs = NULL;
    CHECK(barmap_step_outputs_create(gpu, tensors, 2, 2, &outputs) == BARMAP_OK);
    if (!outputs)
        return;
    CHECK(barmap_step_outputs_bytes(outputs, 0) == large && barmap_step_outputs_bytes(outputs, 1) == small);
    CHECK(barmap_step_outputs_pop(outputs) == 0 && barmap_step_outputs_wait(outputs, millisecond) == 0);
    for (int step = 1; step < 7; ++step) {
        memset(at, step, 2048);
        memset(at + 2048, step + 1, 2048);
        CHECK(barmap_step_outputs_enqueue_store(outputs, stream) == BARMAP_OK);
        synchronize();
        if (step == 5)
            continue; // two are stored before the first is popped
        for (int popped = step == 6 ? 5 : step; popped <= step; ++popped) {
            CHECK(barmap_step_outputs_wait(outputs, long_enough) == 1);
            CHECK(barmap_step_outputs_pop(outputs) == 1);
            unsigned char const* const first = barmap_step_outputs_staging(outputs, 0);
            unsigned char const* const second = barmap_step_outputs_staging(outputs, 1);
            CHECK((uintptr_t)first % 8 == 0 && (uintptr_t)second % 8 == 0);
            CHECK(first[0] == popped && first[large - 1] == popped);
            CHECK(second[0] == popped + 1 && second[small - 1] == popped + 1);
        }
    }
    CHECK(barmap_step_outputs_pop(outputs) == 0 && barmap_step_outputs_failed(outputs) == 0);
    barmap_step_outputs_destroy(outputs);
}

#define REFUSED_STEPS(expected, sentence, device, tensors, count, versions)                        \
    do {                                                                                           \
        barmap_step_inputs* inputs;                                                                \
        barmap_step_outputs* outputs;                                                              \
        REFUSED(expected, sentence, inputs,                                                        \
                barmap_step_inputs_create(device, tensors, count, versions, &inputs));             \
        REFUSED(expected, sentence, outputs,                                                       \
                barmap_step_outputs_create(device, tensors, count, versions, &outputs));           \
    } while (0)

static void every_refusal(void) {
    uint64_t const address = barmap_pin_gpu_address(memory);
    REFUSED_STEPS(invalid, "create a device first", NULL, tensors, 2, 2);
    REFUSED_STEPS(invalid, "pass the tensors, not NULL", gpu, NULL, 1, 2);
    REFUSED_STEPS(invalid, "give at least one", gpu, NULL, 0, 2);
    REFUSED_STEPS(invalid, "give at least one", gpu, tensors, 0, 2);
    static size_t const not_powers[] = {0, 3, SIZE_MAX};
    for (size_t i = 0; i < sizeof not_powers / sizeof *not_powers; ++i)
        REFUSED_STEPS(invalid, "a power of two", gpu, tensors, 2, not_powers[i]);
    barmap_step_tensor const null = {0, 8}, empty = {address, 0}, longer = {address, (uint64_t)1 << 40},
                             ordinary = {(uintptr_t)&failures, 4};
    REFUSED_STEPS(invalid, "an address and a size", gpu, &null, 1, 2);
    REFUSED_STEPS(invalid, "an address and a size", gpu, &empty, 1, 2);
    REFUSED_STEPS(BARMAP_ERROR_OUT_OF_RANGE, "", gpu, &longer, 1, 2);
    REFUSED_STEPS(invalid, "give memory of GPU 0", gpu, &ordinary, 1, 2);
    barmap_device* other = NULL;
    CHECK(barmap_device_create(1, &other) == BARMAP_OK);
    REFUSED_STEPS(invalid, "a tensor is in memory of GPU 0", other, tensors, 2, 2);
    barmap_device_destroy(other);
    barmap_step_tensor const overlapping[] = {{address, 16}, {address + 15, 16}};
    barmap_step_inputs* inputs;
    REFUSED(invalid, "tensors 0 and 1 share memory", inputs,
            barmap_step_inputs_create(gpu, overlapping, 2, 2, &inputs));
    barmap_step_outputs* outputs = NULL; // which may
    CHECK(barmap_step_outputs_create(gpu, overlapping, 2, 2, &outputs) == BARMAP_OK);
    barmap_step_outputs_destroy(outputs);

    barmap_pin* mib = NULL;
    CHECK(barmap_pin_allocate(gpu, 2 << 20, NULL, &mib) == BARMAP_OK);
    barmap_step_tensor const too_large = {barmap_pin_gpu_address(mib), (1 << 20) + 1};
    REFUSED_STEPS(invalid, "1 MiB", gpu, &too_large, 1, 2);
    barmap_pin_destroy(mib);

    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_step_inputs_create(gpu, tensors, 2, 2, NULL));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_step_outputs_create(gpu, tensors, 2, 2, NULL));
    REFUSED_WITHOUT_OUTPUT("make them first", barmap_step_inputs_enqueue_load(NULL, stream));
    REFUSED_WITHOUT_OUTPUT("make them first", barmap_step_outputs_enqueue_store(NULL, stream));
    barmap_step_inputs_destroy(NULL);
    barmap_step_outputs_destroy(NULL);
}

static void a_forked_child_is_refused(void) {
    barmap_step_inputs* inputs = NULL;
    barmap_step_outputs* outputs = NULL;
    CHECK(barmap_step_inputs_create(gpu, tensors, 2, 2, &inputs) == BARMAP_OK);
    CHECK(barmap_step_outputs_create(gpu, tensors, 2, 2, &outputs) == BARMAP_OK);
    pid_t const child = fork();
    if (child == 0) {
        failures = 0;
        barmap_step_inputs_destroy(inputs);
        barmap_step_outputs_destroy(outputs);
        barmap_step_inputs* none = (void*)&failures;
        CHECK(barmap_step_inputs_create(gpu, tensors, 2, 2, &none) != BARMAP_OK && !none);
        _exit(failures);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(barmap_step_inputs_push(inputs) == 1);
    barmap_step_inputs_destroy(inputs);
    barmap_step_outputs_destroy(outputs);
}

int main(void) {
    set_up();
    each_load_gets_its_push();
    each_pop_gets_a_store();
    every_refusal();
    a_forked_child_is_refused();
    CHECK(cu("cuStreamDestroy_v2", stream, NULL) == 0);
    barmap_mapping_destroy(map);
    barmap_pin_destroy(memory);
    barmap_device_destroy(gpu);
    return failures != 0;
}
