// SPDX-License-Identifier: MIT
// Rings and counters through the C interface, on a simulated GPU: what the CPU's
// side of them does, the order of streams, and each refusal with its sentence.
#include <barmap/counter.h>
#include <barmap/ring.h>

#include "check.h"
#include "cuda_calls.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { message_bytes = 40, slots = 8, enough = 1 << 16 };
static uint64_t const millisecond = 1000000, long_enough = (uint64_t)20 * 1000000000;
static int const invalid = BARMAP_ERROR_INVALID_ARGUMENT, no_room = BARMAP_ERROR_OUT_OF_RANGE;

static barmap_device* gpu;
static barmap_arena* words;
static void* stream;

static void set_up(void) {
    if (barmap_device_create(0, &gpu) || barmap_arena_create(gpu, enough, enough, NULL, &words)) {
        fprintf(stderr, "%s\n", barmap_error_message());
        exit(1);
    }
    stream = use_driver();
}

static size_t depth_to_gpu(barmap_ring_to_gpu const* ring, int closed) {
    barmap_ring_state state;
    barmap_ring_to_gpu_state(ring, &state);
    CHECK(state.closed == (uint64_t)closed);
    return (size_t)state.depth;
}

static size_t depth_to_cpu(barmap_ring_to_cpu const* ring, int closed) {
    barmap_ring_state state;
    barmap_ring_to_cpu_state(ring, &state);
    CHECK(state.closed == (uint64_t)closed);
    return (size_t)state.depth;
}

static void a_ring_to_the_gpu_takes_what_there_is_room_for(barmap_device* device,
                                                           barmap_arena* arena) {
    barmap_ring_to_gpu* ring = NULL;
    barmap_ring_handle handle = {0, 0, 0, 0};
    CHECK(barmap_ring_to_gpu_create(device, arena, message_bytes, slots, &handle, &ring) == BARMAP_OK);
    if (!ring)
        return;
    static unsigned char const messages[slots + 1][message_bytes] = {{1}};
    CHECK(handle.slots && handle.control && handle.credits && handle.mask == slots - 1);
    CHECK(depth_to_gpu(ring, 0) == 0);
    CHECK(barmap_ring_to_gpu_push(ring, NULL, 0) == 0);
    CHECK(barmap_ring_to_gpu_wait(ring, 0) == 1);
    CHECK(barmap_ring_to_gpu_push(ring, messages, 3) == 3);
    CHECK(depth_to_gpu(ring, 0) == 3);
    CHECK(barmap_ring_to_gpu_push(ring, messages, slots) == slots - 3);
    CHECK(barmap_ring_to_gpu_push(ring, messages, 1) == 0);
    CHECK(depth_to_gpu(ring, 0) == slots);
    barmap_ring_to_gpu_flush(ring);
    CHECK(barmap_ring_to_gpu_wait(ring, millisecond) == 0);
    CHECK(depth_to_gpu(ring, 0) == slots); // that is what the consumer says
    barmap_ring_to_gpu_close(ring);
    CHECK(depth_to_gpu(ring, 0) == slots);
    barmap_ring_to_gpu_destroy(ring);
}

static void a_ring_to_the_cpu_is_empty_at_first(barmap_device* device, barmap_arena* arena) {
    barmap_ring_to_cpu* ring = NULL;
    barmap_ring_handle handle = {0, 0, 0, 0};
    CHECK(barmap_ring_to_cpu_create(device, arena, message_bytes, slots, &handle, &ring) == BARMAP_OK);
    if (!ring)
        return;
    CHECK(handle.slots && handle.control && handle.credits && handle.mask == slots - 1);
    unsigned char message[message_bytes] = {7};
    CHECK(barmap_ring_to_cpu_pop(ring, message, 1) == 0 && message[0] == 7);
    CHECK(barmap_ring_to_cpu_pop(ring, NULL, 0) == 0);
    CHECK(depth_to_cpu(ring, 0) == 0);
    CHECK(barmap_ring_to_cpu_wait(ring, 0) == 0);
    CHECK(barmap_ring_to_cpu_wait(ring, millisecond) == 0);
    CHECK(depth_to_cpu(ring, 0) == 0);
    barmap_ring_to_cpu_close(ring);
    CHECK(depth_to_cpu(ring, 0) == 0);
    barmap_ring_to_cpu_destroy(ring);
}

static void a_stream_waits_for_a_counter_and_sets_one(void) {
    barmap_counter_to_gpu* inputs = NULL;
    barmap_counter_to_cpu* done = NULL;
    barmap_counter_to_gpu_handle in = {0};
    barmap_counter_to_cpu_handle out = {0, 0, 0};
    CHECK(barmap_counter_to_gpu_create(words, 5, &in, &inputs) == BARMAP_OK);
    CHECK(barmap_counter_to_cpu_create(words, 3, &out, &done) == BARMAP_OK);
    CHECK(barmap_counter_to_gpu_value(inputs) == 5 && barmap_counter_to_cpu_value(done) == 3);
    CHECK(in.word && out.value && out.arrived && out.first == 3);

    CHECK(barmap_counter_to_gpu_stream_wait(inputs, stream, 17) == BARMAP_OK);
    CHECK(barmap_counter_to_cpu_record(done, stream, 9) == BARMAP_OK);
    CHECK(barmap_counter_to_cpu_wait(done, 9, 10 * millisecond) == 0);
    barmap_counter_to_gpu_advance(inputs, 16);
    CHECK(barmap_counter_to_cpu_wait(done, 9, 10 * millisecond) == 0);
    barmap_counter_to_gpu_advance(inputs, 17);
    CHECK(barmap_counter_to_gpu_value(inputs) == 17);
    CHECK(barmap_counter_to_cpu_wait(done, 9, long_enough) == 1);
    CHECK(barmap_counter_to_cpu_value(done) == 9);
    CHECK(barmap_counter_to_cpu_wait(done, 8, 0) == 1 && barmap_counter_to_cpu_wait(done, 10, 0) == 0);
    CHECK(barmap_counter_to_cpu_record(done, NULL, 10) == BARMAP_OK); // the default stream
    CHECK(barmap_counter_to_cpu_wait(done, 10, UINT64_MAX) == 1);
    barmap_counter_to_gpu_destroy(inputs);
    barmap_counter_to_cpu_destroy(done);
}

// All that a process does which was given descriptors; here it is the same one.
static void others_open_what_is_shared(void) {
    barmap_ring_to_gpu *there = NULL, *far_there = NULL;
    barmap_ring_to_cpu *back = NULL, *far_back = NULL;
    barmap_counter_to_gpu *inputs = NULL, *far_inputs = NULL;
    barmap_counter_to_cpu *done = NULL, *far_done = NULL;
    CHECK(barmap_ring_to_gpu_create(NULL, words, message_bytes, slots, NULL, &there) == BARMAP_OK);
    CHECK(barmap_ring_to_cpu_create(NULL, words, message_bytes, slots, NULL, &back) == BARMAP_OK);
    CHECK(barmap_counter_to_gpu_create(words, 5, NULL, &inputs) == BARMAP_OK);
    CHECK(barmap_counter_to_cpu_create(words, 3, NULL, &done) == BARMAP_OK);
    static unsigned char const messages[slots][message_bytes] = {{1}};
    CHECK(barmap_ring_to_gpu_push(there, messages, 3) == 3);
    int descriptors[4] = {-1, -1, -1, -1};
    CHECK(barmap_ring_to_gpu_share(there, &descriptors[0]) == BARMAP_OK);
    CHECK(barmap_ring_to_cpu_share(back, &descriptors[1]) == BARMAP_OK);
    CHECK(barmap_counter_to_gpu_share(inputs, &descriptors[2]) == BARMAP_OK);
    CHECK(barmap_counter_to_cpu_share(done, &descriptors[3]) == BARMAP_OK);
    CHECK(barmap_ring_to_gpu_open_shared(descriptors[0], message_bytes, &far_there) == BARMAP_OK);
    CHECK(barmap_ring_to_cpu_open_shared(descriptors[1], message_bytes, &far_back) == BARMAP_OK);
    CHECK(barmap_counter_to_gpu_open_shared(descriptors[2], &far_inputs) == BARMAP_OK);
    CHECK(barmap_counter_to_cpu_open_shared(descriptors[3], &far_done) == BARMAP_OK);
    if (failures)
        return;
    CHECK(depth_to_gpu(far_there, 0) == 3);
    CHECK(barmap_ring_to_gpu_push(far_there, messages, slots) == slots - 3);
    CHECK(barmap_ring_to_cpu_wait(far_back, 0) == 0 && depth_to_cpu(far_back, 0) == 0);
    CHECK(barmap_counter_to_gpu_value(far_inputs) == 5);
    CHECK(barmap_counter_to_gpu_stream_wait(inputs, stream, 6) == BARMAP_OK);
    CHECK(barmap_counter_to_cpu_record(done, stream, 4) == BARMAP_OK);
    CHECK(barmap_counter_to_cpu_wait(far_done, 4, millisecond) == 0);
    barmap_counter_to_gpu_advance(far_inputs, 6);
    CHECK(barmap_counter_to_cpu_wait(far_done, 4, long_enough) == 1);

    int const unsupported = BARMAP_ERROR_UNSUPPORTED_OPERATION;
    CHECK(barmap_counter_to_gpu_stream_wait(far_inputs, stream, 6) == unsupported);
    CHECK(barmap_counter_to_cpu_record(far_done, stream, 5) == unsupported);
    barmap_ring_to_gpu* no_ring;
    REFUSED(invalid, "have 40 bytes, and those of this type 8", no_ring,
            barmap_ring_to_gpu_open_shared(descriptors[0], 8, &no_ring));
    REFUSED(invalid, "it is a ring_to_cpu", no_ring,
            barmap_ring_to_gpu_open_shared(descriptors[1], message_bytes, &no_ring));
    REFUSED(invalid, "cannot open shared memory", no_ring,
            barmap_ring_to_gpu_open_shared(-1, message_bytes, &no_ring));
    barmap_ring_to_cpu* no_ring_back;
    REFUSED(invalid, "use the same type", no_ring_back,
            barmap_ring_to_cpu_open_shared(descriptors[1], 8, &no_ring_back));
    barmap_counter_to_gpu* no_inputs;
    REFUSED(invalid, "it is a counter_to_cpu", no_inputs,
            barmap_counter_to_gpu_open_shared(descriptors[3], &no_inputs));
    barmap_counter_to_cpu* nothing_done;
    REFUSED(invalid, "it is a counter_to_gpu", nothing_done,
            barmap_counter_to_cpu_open_shared(descriptors[2], &nothing_done));
    for (int i = 0; i < 4; ++i)
        CHECK(close(descriptors[i]) == 0);
    barmap_ring_to_gpu_destroy(there);
    barmap_ring_to_cpu_destroy(back);
    barmap_counter_to_gpu_destroy(inputs);
    barmap_counter_to_cpu_destroy(done);
    barmap_ring_to_gpu_destroy(far_there);
    barmap_ring_to_cpu_destroy(far_back);
    barmap_counter_to_gpu_destroy(far_inputs);
    barmap_counter_to_cpu_destroy(far_done);
}

static void nothing_is_not_shared(void) {
    int at = 0;
    CHECK(barmap_ring_to_gpu_share(NULL, &at) == invalid && at == -1);
    CHECK(barmap_ring_to_cpu_share(NULL, &at) == invalid);
    CHECK(barmap_counter_to_gpu_share(NULL, &at) == invalid);
    CHECK(barmap_counter_to_cpu_share(NULL, &at) == invalid);
    CHECK(strstr(barmap_error_message(), "cannot share a ring or a counter with another process: "
                                         "invalid argument; create one first") != NULL);
    REFUSED_WITHOUT_OUTPUT("pass a pointer for the descriptor", barmap_ring_to_gpu_share(NULL, NULL));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_ring_to_gpu_open_shared(-1, 8, NULL));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_ring_to_cpu_open_shared(-1, 8, NULL));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_counter_to_gpu_open_shared(-1, NULL));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_counter_to_cpu_open_shared(-1, NULL));
}

#define REFUSED_RING(expected, sentence, device, arena, bytes, count)                              \
    do {                                                                                           \
        barmap_ring_to_gpu* to_gpu;                                                                \
        barmap_ring_to_cpu* to_cpu;                                                                \
        barmap_ring_handle unchanged = {1, 2, 3, 4};                                               \
        REFUSED(expected, sentence, to_gpu,                                                        \
                barmap_ring_to_gpu_create(device, arena, bytes, count, &unchanged, &to_gpu));      \
        REFUSED(expected, sentence, to_cpu,                                                        \
                barmap_ring_to_cpu_create(device, arena, bytes, count, &unchanged, &to_cpu));      \
        CHECK(unchanged.slots == 1 && unchanged.mask == 4);                                        \
    } while (0)

static void every_refusal_of_a_ring(void) {
    barmap_arena* arena;
    REFUSED(invalid, "cannot make an arena: invalid argument; create a device first", arena,
            barmap_arena_create(NULL, 1, 1, NULL, &arena));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_arena_create(gpu, 1, 1, NULL, NULL));

    REFUSED_WITHOUT_OUTPUT("pass a pointer",
                           barmap_ring_to_gpu_create(gpu, NULL, message_bytes, slots, NULL, NULL));
    REFUSED_WITHOUT_OUTPUT("pass a pointer",
                           barmap_ring_to_cpu_create(gpu, NULL, message_bytes, slots, NULL, NULL));
    REFUSED_RING(invalid, "give a device or an arena", NULL, NULL, message_bytes, slots);
    REFUSED_RING(invalid, "give a device or an arena", gpu, words, message_bytes, slots);
    static size_t const not_powers[] = {0, 3, 7, SIZE_MAX, (size_t)1 << 33};
    for (size_t i = 0; i < sizeof not_powers / sizeof *not_powers; ++i) {
        REFUSED_RING(invalid, "a power of two", gpu, NULL, message_bytes, not_powers[i]);
        REFUSED_RING(invalid, "a power of two", NULL, words, message_bytes, not_powers[i]);
    }
    static size_t const wrong_sizes[] = {0, (1 << 20) + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong_sizes / sizeof *wrong_sizes; ++i) {
        REFUSED_RING(invalid, "1 byte to 1 MiB", gpu, NULL, wrong_sizes[i], slots);
        REFUSED_RING(invalid, "1 byte to 1 MiB", NULL, words, wrong_sizes[i], slots);
    }
    REFUSED_RING(no_room, "make the arena larger", NULL, words, message_bytes, enough);
}

// What takes `need_gpu` and `need_host` bytes of an arena is refused by one that has less of
// either.
#define REFUSED_IN_ARENAS(Type, need_gpu, need_host, no_arena, make)                               \
    do {                                                                                           \
        Type* out;                                                                                 \
        barmap_arena* from = NULL;                                                                 \
        REFUSED(invalid, no_arena, out, make);                                                     \
        for (int host = 0; host < 2; ++host) {                                                     \
            if ((host ? need_host : need_gpu) == 0)                                                \
                continue;                                                                          \
            CHECK(barmap_arena_create(gpu, host ? (need_gpu) : (need_gpu)-128,                       \
                                    host ? (need_host)-128 : (need_host), NULL, &from) == BARMAP_OK);    \
            REFUSED(no_room, "make the arena larger", out, make);                                  \
            barmap_arena_destroy(from);                                                               \
        }                                                                                          \
        CHECK(barmap_arena_create(gpu, need_gpu, need_host, NULL, &from) == BARMAP_OK);                    \
        CHECK(make == BARMAP_OK);                                                                  \
        barmap_arena_destroy(from); /* it keeps what it needs */                                      \
        CHECK(out != NULL);                                                                        \
        kept = out;                                                                                \
    } while (0)

static void arenas_are_as_large_as_is_said(void) {
    static char const first[] = "make an arena first";
    void* kept;
    REFUSED_IN_ARENAS(barmap_counter_to_gpu, 128, 0, first,
                      barmap_counter_to_gpu_create(from, 0, NULL, &out));
    barmap_counter_to_gpu_advance(kept, 1);
    barmap_counter_to_gpu_destroy(kept);
    REFUSED_IN_ARENAS(barmap_counter_to_cpu, 128, 128, first,
                      barmap_counter_to_cpu_create(from, 0, NULL, &out));
    barmap_counter_to_cpu_destroy(kept);
    REFUSED_IN_ARENAS(barmap_ring_to_gpu, 8 * 128 + 128, 128, "a device or an arena",
                      barmap_ring_to_gpu_create(NULL, from, 57, 8, NULL, &out));
    barmap_ring_to_gpu_destroy(kept);
    REFUSED_IN_ARENAS(barmap_ring_to_cpu, 128, 8 * 64 + 128, "a device or an arena",
                      barmap_ring_to_cpu_create(NULL, from, 56, 8, NULL, &out));
    barmap_ring_to_cpu_destroy(kept);
}

static void every_other_refusal(void) {
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_counter_to_gpu_create(words, 0, NULL, NULL));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_counter_to_cpu_create(words, 0, NULL, NULL));

    REFUSED_WITHOUT_OUTPUT("cannot have a stream wait for a counter: invalid argument; create one",
                           barmap_counter_to_gpu_stream_wait(NULL, stream, 1));
    REFUSED_WITHOUT_OUTPUT("have a stream set a counter", barmap_counter_to_cpu_record(NULL, stream, 1));
}

static void null_is_freed(void) {
    barmap_arena_destroy(NULL);
    barmap_ring_to_gpu_destroy(NULL);
    barmap_ring_to_cpu_destroy(NULL);
    barmap_counter_to_gpu_destroy(NULL);
    barmap_counter_to_cpu_destroy(NULL);
}

#define REFUSED_IN_CHILD(Type, call)                                                               \
    do {                                                                                           \
        Type* out;                                                                                 \
        REFUSED(BARMAP_ERROR_FORKED_CHILD, "parent", out, call);                                   \
    } while (0)

static void a_forked_child_may_only_free(void) {
    barmap_ring_to_gpu* ring = NULL;
    barmap_counter_to_cpu* counter = NULL;
    CHECK(barmap_ring_to_gpu_create(NULL, words, 8, 2, NULL, &ring) == BARMAP_OK);
    CHECK(barmap_counter_to_cpu_create(words, 0, NULL, &counter) == BARMAP_OK);
    pid_t const child = fork();
    if (child == 0) {
        failures = 0;
        int const forked = BARMAP_ERROR_FORKED_CHILD;
        REFUSED_IN_CHILD(barmap_arena, barmap_arena_create(gpu, 1, 1, NULL, &out));
        REFUSED_RING(forked, "parent", gpu, NULL, 8, 2);
        REFUSED_RING(forked, "parent", NULL, words, 8, 2);
        REFUSED_IN_CHILD(barmap_counter_to_gpu, barmap_counter_to_gpu_create(words, 0, NULL, &out));
        REFUSED_IN_CHILD(barmap_counter_to_cpu, barmap_counter_to_cpu_create(words, 0, NULL, &out));
        CHECK(barmap_counter_to_cpu_record(counter, NULL, 1) == forked);
        barmap_ring_to_gpu_destroy(ring);
        barmap_counter_to_cpu_destroy(counter);
        barmap_arena_destroy(words);
        _exit(failures);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    uint64_t const message = 1;
    CHECK(barmap_ring_to_gpu_push(ring, &message, 1) == 1);
    barmap_ring_to_gpu_destroy(ring);
    barmap_counter_to_cpu_destroy(counter);
}

int main(void) {
    set_up();
    if (failures)
        return 1;
    a_ring_to_the_gpu_takes_what_there_is_room_for(gpu, NULL);
    a_ring_to_the_gpu_takes_what_there_is_room_for(NULL, words);
    a_ring_to_the_cpu_is_empty_at_first(gpu, NULL);
    a_ring_to_the_cpu_is_empty_at_first(NULL, words);
    a_stream_waits_for_a_counter_and_sets_one();
    others_open_what_is_shared();
    nothing_is_not_shared();
    every_refusal_of_a_ring();
    arenas_are_as_large_as_is_said();
    every_other_refusal();
    null_is_freed();
    a_forked_child_may_only_free();
    barmap_device_destroy(gpu); // the arena keeps it
    barmap_arena_destroy(words);
    return failures != 0;
}
