// SPDX-License-Identifier: MIT
// Pushes messages that a running kernel would pop, and lets a CUDA stream say how far it is, in C.
//
//     cc -std=c11 signal.c $(pkg-config --cflags --libs barmap) -o signal
//
// Runs without a GPU as well: BARMAP_SIM=1 ./signal
#include <barmap/signal.h>

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
    if (barmap_open(0, &gpu) || barmap_make_arena(gpu, 1 << 16, 1 << 12, &words) ||
        barmap_make_ring_to_gpu(NULL, words, sizeof(command), slots, &commands) ||
        barmap_make_counter_to_gpu(words, 0, &inputs) ||
        barmap_make_counter_to_cpu(words, 0, &done))
        return fail();

    // What a kernel takes, by value: __global__ void serve(barmap::gpu::ring_to_gpu<command> in)
    barmap_ring_handle handle;
    barmap_ring_to_gpu_handle(commands, &handle);
    printf("%s: a ring of %llu messages at GPU address %#llx\n", barmap_device_name(gpu),
           (unsigned long long)handle.mask + 1, (unsigned long long)handle.slots);

    // Nobody pops them here, so that the ring is full in the end.
    uint64_t pushed = 0;
    for (command next = {0, 0.5}; barmap_push(commands, &next, 1) == 1; next.what = ++pushed)
        barmap_flush_ring(commands);
    barmap_end_ring_to_gpu(commands); // a kernel would end after the last one
    printf("pushed %llu, %zu under way\n", (unsigned long long)pushed,
           barmap_ring_to_gpu_depth(commands));

    // The default stream goes on when the CPU says so, and tells how far it is.
    if (barmap_stream_wait_for_counter(inputs, NULL, step) ||
        barmap_record_counter(done, NULL, step))
        return fail();
    int const early = barmap_wait_for_counter(done, step, second / 100);
    barmap_advance(inputs, step);
    int const reached = barmap_wait_for_counter(done, step, 10 * second);
    printf("the stream is at step %llu\n", (unsigned long long)barmap_counter_to_cpu_value(done));

    // When no kernel and no stream uses them any more; in any order.
    barmap_close(gpu);
    barmap_free_arena(words);
    barmap_free_ring_to_gpu(commands);
    barmap_free_counter_to_gpu(inputs);
    barmap_free_counter_to_cpu(done);
    return pushed == slots && !early && reached ? 0 : 1;
}
