// SPDX-License-Identifier: MIT
// Parts of arenas, and descriptors of signals, through the C interface on a simulated GPU: what languages make
// rings and counters of. And logs in an arena.
#include <barmap/counter.h>
#include <barmap/log.h>
#include <barmap/report.h>
#include <barmap/ring.h>

#include "check.h"
#include "cuda_calls.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { block = 4096 };
static int const invalid = BARMAP_ERROR_INVALID_ARGUMENT, no_room = BARMAP_ERROR_OUT_OF_RANGE,
                 unsupported = BARMAP_ERROR_UNSUPPORTED_OPERATION;

static barmap_device* gpu;
static barmap_arena* words;
static void* stream;

static void set_up(void) {
    if (barmap_device_create(0, &gpu) || barmap_arena_create(gpu, block, block, NULL, &words)) {
        fprintf(stderr, "%s\n", barmap_error_message());
        exit(1);
    }
    stream = use_driver();
}

static barmap_arena_part* take(barmap_arena* from, int which, size_t bytes) {
    barmap_arena_part* part = NULL;
    CHECK(barmap_arena_take(from, which, bytes, &part) == BARMAP_OK && part);
    if (!part)
        exit(1);
    return part;
}

static barmap_part_place place_of(barmap_arena_part const* part) {
    barmap_part_place at = {NULL, 0, 0, NULL};
    barmap_arena_part_place(part, &at);
    return at;
}

// The word of 8 bytes with an index.
static uint64_t word_of(barmap_arena_part const* part, size_t index) {
    uint64_t word = 0;
    memcpy(&word, (char*)place_of(part).data + 8 * index, sizeof word);
    return word;
}

static void an_arena_is_freed_with_its_last_use(void) {
    barmap_arena* arena = NULL;
    CHECK(barmap_arena_create(gpu, 1, 0, "", &arena) == BARMAP_OK);
    CHECK(barmap_arena_retain(arena) == arena);
    barmap_arena_destroy(arena);
    CHECK(barmap_device_ordinal(barmap_arena_device(arena)) == 0);
    CHECK(barmap_arena_kind(arena) == BARMAP_CACHED);
    barmap_arena_destroy(arena);
    barmap_arena_destroy(NULL);
    REFUSED(invalid, "the backends are", arena, barmap_arena_create(gpu, 1, 1, "nonsense", &arena));
    REFUSED(BARMAP_ERROR_BACKEND_ABSENT, "gdrdrv", arena, barmap_arena_create(gpu, 1, 1, "gdrdrv", &arena));
}

static void parts_lie_apart_in_their_block(void) {
    static int const blocks[] = {BARMAP_OF_GPU, BARMAP_OF_HOST};
    for (int i = 0; i < 2; ++i) {
        barmap_arena_part* const first = take(words, blocks[i], 1);
        barmap_arena_part* const second = take(words, blocks[i], 129);
        barmap_part_place const a = place_of(first), b = place_of(second);
        CHECK(a.size == 1 && b.size == 129 && a.data && b.data && a.gpu_address && b.gpu_address);
        CHECK(a.gpu_address % 128 == 0 && b.gpu_address % 128 == 0 && b.gpu_address - a.gpu_address == 128);
        CHECK((char*)b.data - (char*)a.data == 128);
        CHECK((a.plan != NULL) == (blocks[i] == BARMAP_OF_GPU));
        CHECK(barmap_arena_part_is_own(first) == 1);
        barmap_arena_part_publish(second, 3, 0x1112131415161718u);
        CHECK(word_of(second, 3) == 0x1112131415161718u);

        barmap_arena_part* none;
        REFUSED(no_room, "make the arena larger", none, barmap_arena_take(words, blocks[i], block, &none));
        REFUSED(no_room, "make the arena larger", none, barmap_arena_take(words, blocks[i], SIZE_MAX, &none));
        REFUSED(invalid, "give a size greater than 0", none, barmap_arena_take(words, blocks[i], 0, &none));
        REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_arena_take(words, blocks[i], 1, NULL));
        barmap_arena_part_destroy(first);
        barmap_arena_part_destroy(second);
        barmap_arena_part_destroy(take(words, blocks[i], block)); // they were given back
    }
    barmap_arena_part* none;
    static int const wrong[] = {-1, 2, 1 << 30};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        REFUSED(invalid, "give a value of enum barmap_arena_block", none,
                barmap_arena_take(words, wrong[i], 1, &none));
    REFUSED(invalid, "make an arena first", none, barmap_arena_take(NULL, BARMAP_OF_GPU, 1, &none));
    barmap_arena_part_destroy(NULL);
}

static void a_part_keeps_its_memory(void) {
    barmap_arena* arena = NULL;
    CHECK(barmap_arena_create(gpu, 128, 0, NULL, &arena) == BARMAP_OK);
    barmap_arena_part* const part = take(arena, BARMAP_OF_GPU, 128);
    barmap_arena_part* none;
    REFUSED(no_room, "make the arena larger", none, barmap_arena_take(arena, BARMAP_OF_HOST, 1, &none));
    barmap_arena_destroy(arena);
    CHECK(barmap_arena_part_publish(part, 15, 7) == BARMAP_OK && word_of(part, 15) == 7);
    barmap_arena_part_destroy(part);
}

static void a_stream_waits_for_a_part_and_stores_one(void) {
    barmap_arena_part* const in = take(words, BARMAP_OF_GPU, 8);
    barmap_arena_part* const out = take(words, BARMAP_OF_HOST, 8);
    CHECK(barmap_arena_part_publish(in, 0, 0) == BARMAP_OK && barmap_arena_part_publish(out, 0, 0) == BARMAP_OK);
    CHECK(barmap_arena_part_stream_wait(in, stream, 17) == BARMAP_OK);
    CHECK(barmap_arena_part_stream_write(out, stream, 9) == BARMAP_OK);
    nanosleep(&(struct timespec){0, 5000000}, NULL);
    CHECK(word_of(out, 0) == 0);
    CHECK(barmap_arena_part_publish(in, 0, 17) == BARMAP_OK);
    CHECK(cu("cuStreamSynchronize", stream, NULL) == 0);
    CHECK(word_of(out, 0) == 9);
    REFUSED_WITHOUT_OUTPUT("take a part of an arena first", barmap_arena_part_stream_wait(NULL, stream, 1));
    REFUSED_WITHOUT_OUTPUT("take a part of an arena first", barmap_arena_part_stream_write(NULL, stream, 1));
    barmap_arena_part_destroy(in);
    barmap_arena_part_destroy(out);
}

static void parts_are_shared_as_a_signal(void) {
    barmap_arena_part* parts[2] = {take(words, BARMAP_OF_GPU, 128), take(words, BARMAP_OF_HOST, 64)};
    barmap_signal const what = {BARMAP_COUNTER_TO_CPU, 0, 0, 3};
    barmap_signal said = {9, 9, 9, 9};
    barmap_arena* there = NULL;
    int descriptor = -1;
    barmap_arena_part_publish(parts[1], 0, 33);
    CHECK(barmap_signal_share(&what, (barmap_arena_part const* const*)parts, 2, &descriptor) == BARMAP_OK);
    CHECK(barmap_signal_open_shared(descriptor, BARMAP_COUNTER_TO_CPU, &said, &there) == BARMAP_OK);
    if (!there)
        return;
    CHECK(said.kind == what.kind && said.message_bytes == 0 && said.slots == 0 && said.first == 3);
    CHECK(barmap_arena_device(there) == NULL && barmap_arena_kind(there) == BARMAP_CACHED);
    barmap_arena_part* const of_gpu = take(there, BARMAP_OF_GPU, 128);
    barmap_arena_part* const of_host = take(there, BARMAP_OF_HOST, 64);
    CHECK(word_of(of_host, 0) == 33);
    CHECK(place_of(of_gpu).gpu_address == 0 && place_of(of_gpu).plan && !place_of(of_host).plan);
    CHECK(barmap_arena_part_publish(of_gpu, 1, 44) == BARMAP_OK && word_of(parts[0], 1) == 44);
    CHECK(barmap_arena_part_stream_wait(of_gpu, stream, 0) == unsupported);
    CHECK(barmap_arena_part_stream_write(of_host, stream, 0) == unsupported);
    barmap_arena_part* none;
    REFUSED(invalid, "as it was received", none, barmap_arena_take(there, BARMAP_OF_GPU, 128, &none));
    barmap_arena_part_destroy(of_gpu);
    barmap_arena_part_destroy(of_host);
    barmap_arena_destroy(there);

    // It is a counter's, with the number that its handle would have.
    barmap_counter_to_gpu* wrong;
    REFUSED(invalid, "it is a counter_to_cpu", wrong, barmap_counter_to_gpu_open_shared(descriptor, &wrong));
    CHECK(close(descriptor) == 0);
    barmap_arena_part_destroy(parts[0]);
    barmap_arena_part_destroy(parts[1]);
}

#define REFUSED_SHARE(sentence, what, parts, count)                                                \
    do {                                                                                           \
        int at = 7;                                                                                \
        barmap_signal const is = what;                                                             \
        REFUSED_WITHOUT_OUTPUT(                                                                    \
            sentence, barmap_signal_share(&is, (barmap_arena_part const* const*)(parts), count, &at)); \
        CHECK(at == -1);                                                                           \
    } while (0)

static barmap_signal signal_of(uint64_t kind) {
    barmap_signal const is = {kind, 0, 0, 0};
    return is;
}

static void every_refusal_of_a_signal(void) {
    barmap_arena* other = NULL;
    CHECK(barmap_arena_create(gpu, 128, 128, NULL, &other) == BARMAP_OK);
    barmap_arena_part *a = take(words, BARMAP_OF_GPU, 8), *b = take(words, BARMAP_OF_GPU, 8),
                      *c = take(words, BARMAP_OF_GPU, 8), *d = take(words, BARMAP_OF_HOST, 8),
                      *foreign = take(other, BARMAP_OF_HOST, 8);
    static char const kind[] = "give a value of enum barmap_signal_kind", all[] = "give all of its parts";
    barmap_arena_part *const one[] = {a}, *const both[] = {a, d}, *const host[] = {d}, *const three[] = {a, b, c},
                      *const mixed[] = {a, foreign}, *const with_null[] = {a, NULL};
    REFUSED_SHARE(kind, signal_of(0), one, 1);
    REFUSED_SHARE(kind, signal_of(5), one, 1);
    REFUSED_SHARE(kind, signal_of(UINT64_MAX), one, 1);
    REFUSED_SHARE(kind, signal_of((uint64_t)1 << 32 | BARMAP_COUNTER_TO_GPU), one, 1);
    REFUSED_SHARE(all, signal_of(BARMAP_COUNTER_TO_GPU), one, 0);
    REFUSED_SHARE(all, signal_of(BARMAP_COUNTER_TO_GPU), both, 2);
    REFUSED_SHARE(all, signal_of(BARMAP_COUNTER_TO_GPU), host, 1);
    REFUSED_SHARE(all, signal_of(BARMAP_COUNTER_TO_CPU), one, 1);
    REFUSED_SHARE(all, signal_of(BARMAP_COUNTER_TO_CPU), mixed, 2);
    REFUSED_SHARE(all, signal_of(BARMAP_COUNTER_TO_CPU), with_null, 2);
    REFUSED_SHARE(all, signal_of(BARMAP_RING_TO_GPU), three, 3);
    REFUSED_SHARE(all, signal_of(BARMAP_RING_TO_GPU), three, 2);
    REFUSED_SHARE(all, signal_of(BARMAP_RING_TO_CPU), both, 2);

    barmap_signal const is = signal_of(BARMAP_COUNTER_TO_GPU);
    int at = 7;
    barmap_arena_part const* const only = a;
    REFUSED_WITHOUT_OUTPUT("pass its description, not NULL", barmap_signal_share(NULL, &only, 1, &at));
    REFUSED_WITHOUT_OUTPUT("give its parts, not NULL", barmap_signal_share(&is, NULL, 1, &at));
    REFUSED_WITHOUT_OUTPUT("pass a pointer for the descriptor", barmap_signal_share(&is, &only, 1, NULL));
    CHECK(at == -1);
    barmap_arena_part_destroy(a);
    barmap_arena_part_destroy(b);
    barmap_arena_part_destroy(c);
    barmap_arena_part_destroy(d);
    barmap_arena_part_destroy(foreign);
    barmap_arena_destroy(other);
}

static void a_signal_is_opened_as_what_it_is(void) {
    barmap_counter_to_gpu* counter = NULL;
    barmap_signal said = {9, 9, 9, 9};
    barmap_arena* none;
    int descriptor = -1, of_memory[2] = {-1, -1};
    CHECK(barmap_counter_to_gpu_create(words, 5, NULL, &counter) == BARMAP_OK);
    CHECK(barmap_counter_to_gpu_share(counter, &descriptor) == BARMAP_OK);
    REFUSED(invalid, "it is a counter_to_gpu", none,
            barmap_signal_open_shared(descriptor, BARMAP_RING_TO_CPU, &said, &none));
    CHECK(said.kind == 0 && said.first == 0);
    static int const wrong[] = {-1, 0, 5};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        REFUSED(invalid, "enum barmap_signal_kind", none,
                barmap_signal_open_shared(descriptor, wrong[i], &said, &none));
    REFUSED(invalid, "pass a pointer for the description", none,
            barmap_signal_open_shared(descriptor, BARMAP_COUNTER_TO_GPU, NULL, &none));
    REFUSED_WITHOUT_OUTPUT("pass a pointer",
                           barmap_signal_open_shared(descriptor, BARMAP_COUNTER_TO_GPU, &said, NULL));
    REFUSED(invalid, "cannot open shared memory", none,
            barmap_signal_open_shared(-1, BARMAP_COUNTER_TO_GPU, &said, &none));
    CHECK(pipe(of_memory) == 0);
    REFUSED(invalid, "cannot open shared memory", none,
            barmap_signal_open_shared(of_memory[0], BARMAP_COUNTER_TO_GPU, &said, &none));
    CHECK(close(descriptor) == 0 && close(of_memory[0]) == 0 && close(of_memory[1]) == 0);
    barmap_counter_to_gpu_destroy(counter);
}

static void a_log_in_an_arena(void) {
    barmap_log *log = NULL, *read = NULL, *none;
    barmap_log_handle handle = {0, 0, 0, 0}, same = {1, 1, 1, 1}, for_thread = {1, 1, 1, 1}, far = {1, 1, 1, 1};
    int descriptor = -1;
    CHECK(barmap_log_create_in(words, 64, 1000, &handle, &log) == BARMAP_OK);
    CHECK(handle.records && handle.next && handle.mask == 63 && handle.shift == 6);
    barmap_log_get_handle(log, 0, &same);
    CHECK(memcmp(&same, &handle, sizeof same) == 0);
    barmap_log_get_handle(log, 1, &for_thread);
    CHECK(for_thread.records && for_thread.next && for_thread.mask == 63 && for_thread.shift == 6);
    CHECK(*(uint64_t const*)(uintptr_t)for_thread.next == 1000); // the next number
    CHECK(barmap_log_lost(log) == 0 && barmap_log_wait(log, 0) == 0);
    CHECK(barmap_log_share(log, &descriptor) == BARMAP_OK);
    CHECK(barmap_log_open_shared(descriptor, &read) == BARMAP_OK && close(descriptor) == 0);
    barmap_log_get_handle(read, 0, &far);
    CHECK(far.records == 0 && far.next == 0 && far.mask == 63 && far.shift == 6);
    barmap_log_destroy(read);
    barmap_log_destroy(log);

    REFUSED(invalid, "make an arena first", none, barmap_log_create_in(NULL, 64, 0, &handle, &none));
    REFUSED(invalid, "a power of two", none, barmap_log_create_in(words, 63, 0, &handle, &none));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_log_create_in(words, 64, 0, &handle, NULL));
    barmap_arena* full = NULL;
    CHECK(barmap_arena_create(gpu, 0, 128, NULL, &full) == BARMAP_OK);
    REFUSED(no_room, "make the arena larger", none, barmap_log_create_in(full, 64, 0, &handle, &none));
    CHECK(handle.mask == 63); // a failure leaves it
    barmap_arena_destroy(full);
}

static void a_forked_child_owns_nothing(void) {
    barmap_arena_part* const part = take(words, BARMAP_OF_HOST, 8);
    pid_t const child = fork();
    if (child == 0) {
        failures = 0;
        barmap_arena_part* none;
        CHECK(barmap_arena_part_is_own(part) == 0);
        REFUSED(BARMAP_ERROR_FORKED_CHILD, "parent", none, barmap_arena_take(words, BARMAP_OF_HOST, 8, &none));
        barmap_arena_part_destroy(part);
        barmap_arena_destroy(barmap_arena_retain(words));
        barmap_arena_destroy(words);
        _exit(failures);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(barmap_arena_part_is_own(part) == 1);
    barmap_arena_part_destroy(part);
}

int main(void) {
    set_up();
    an_arena_is_freed_with_its_last_use();
    parts_lie_apart_in_their_block();
    a_part_keeps_its_memory();
    a_stream_waits_for_a_part_and_stores_one();
    parts_are_shared_as_a_signal();
    every_refusal_of_a_signal();
    a_signal_is_opened_as_what_it_is();
    a_log_in_an_arena();
    a_forked_child_owns_nothing();
    CHECK(cu("cuStreamDestroy_v2", stream, NULL) == 0);
    barmap_arena_destroy(words);
    barmap_device_destroy(gpu);
    return failures != 0;
}
