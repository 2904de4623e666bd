// SPDX-License-Identifier: MIT
// Pushes messages that a running kernel would pop, and lets a CUDA stream say how far it is, in C.
//
//     cc -std=c11 signal.c $(pkg-config --cflags --libs barmap) -o signal
//
// Runs without a GPU as well: BARMAP_SIM=1 ./signal
#include <barmap/counter.h>
#include <barmap/ring.h>

#include <stdio.h>

typedef struct command {
    uint64_t what;
    double value;
} command;

static int fail(void) {
    fprintf(stderr, "%s\n", barmap_error_message());
    return 1;
}

int main(void) {
    enum { slots = 64, step = 17 };
    uint64_t const second = 1000000000;
    barmap_device* gpu = NULL;
    barmap_arena* words = NULL;
    barmap_ring_to_gpu* commands = NULL;
    barmap_counter_to_gpu* inputs = NULL;
    barmap_counter_to_cpu* done = NULL;
    // One block of memory of each kind for all of them.
    // A kernel takes it by value: __global__ void serve(barmap::gpu::ring_to_gpu<command> in)
    barmap_ring_handle handle;
    if (barmap_device_create(0, &gpu) || barmap_arena_create(gpu, 1 << 16, 1 << 12, NULL, &words) ||
        barmap_ring_to_gpu_create(NULL, words, sizeof(command), slots, &handle, &commands) ||
        barmap_counter_to_gpu_create(words, 0, NULL, &inputs) ||
        barmap_counter_to_cpu_create(words, 0, NULL, &done))
        return fail();

    printf("%s: a ring of %llu messages at GPU address %#llx\n", barmap_device_name(gpu),
           (unsigned long long)handle.mask + 1, (unsigned long long)handle.slots);

    // Nobody pops them here, so that the ring is full in the end.
    uint64_t pushed = 0;
    for (command next = {0, 0.5}; barmap_ring_to_gpu_push(commands, &next, 1) == 1; next.what = ++pushed)
        barmap_ring_to_gpu_flush(commands);
    barmap_ring_to_gpu_close(commands); // a kernel would end after the last one
    barmap_ring_state state;
    barmap_ring_to_gpu_state(commands, &state);
    printf("pushed %llu, %llu in flight\n", (unsigned long long)pushed,
           (unsigned long long)state.depth);

    // The default stream continues when the CPU advances `inputs`, and reports how far it is.
    if (barmap_counter_to_gpu_stream_wait(inputs, NULL, step) ||
        barmap_counter_to_cpu_record(done, NULL, step))
        return fail();
    int const early = barmap_counter_to_cpu_wait(done, step, second / 100);
    barmap_counter_to_gpu_advance(inputs, step);
    int const reached = barmap_counter_to_cpu_wait(done, step, 10 * second);
    printf("the stream is at step %llu\n", (unsigned long long)barmap_counter_to_cpu_value(done));

    // When no kernel and no stream uses them any more; in any order.
    barmap_device_destroy(gpu);
    barmap_arena_destroy(words);
    barmap_ring_to_gpu_destroy(commands);
    barmap_counter_to_gpu_destroy(inputs);
    barmap_counter_to_cpu_destroy(done);
    return pushed == slots && !early && reached ? 0 : 1;
}
