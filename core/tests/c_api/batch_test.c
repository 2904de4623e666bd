// SPDX-License-Identifier: MIT
// Batches through the C interface, on a simulated GPU: both directions, the order of streams, what
// options may be, and each refusal with its sentence.
#include "check.h"

#include <barmap/host_buffer.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { size = 1 << 20, count = 300 };
static uint64_t const second = 1000000000;

static barmap_device* gpu;
static barmap_pin* memory; // of that GPU
static barmap_mapping* map;
static unsigned char* at; // the same, mapped
static barmap_host_buffer* pinned;
static unsigned char* host; // the same
static barmap_batch_queue* queue;
static void* stream;

// The simulated driver's functions, by which programs make streams.
static void* driver;
static int cu(char const* name, void* a, void* b, void* c) {
    int (*function)(void*, void*, void*) = NULL;
    *(void**)&function = dlsym(driver, name);
    return function ? function(a, b, c) : -1;
}

static void set_up(void) {
    if (barmap_device_create(0, &gpu) || barmap_pin_allocate(gpu, size, NULL, &memory) || barmap_mapping_create(memory, &map) ||
        barmap_host_buffer_create(gpu, size, &pinned) || barmap_batch_queue_create(gpu, &queue)) {
        fprintf(stderr, "%s\n", barmap_error_message());
        exit(1);
    }
    at = barmap_mapping_data(map);
    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void* context = NULL;
    CHECK(cu("cuDevicePrimaryCtxRetain", &context, NULL, NULL) == 0);
    CHECK(cu("cuCtxSetCurrent", context, NULL, NULL) == 0);
    CHECK(cu("cuStreamCreate", &stream, (void*)1, NULL) == 0);
    host = barmap_host_buffer_data(pinned);
}

static void host_memory_is_zeroed_and_pinned(void) {
    CHECK(barmap_host_buffer_size(pinned) == size && barmap_host_buffer_gpu_address(pinned) != 0);
    CHECK((uintptr_t)host % 4096 == 0);
    size_t other_bytes = 0;
    for (size_t i = 0; i < size; ++i)
        other_bytes += host[i] != 0;
    CHECK(other_bytes == 0);
    barmap_host_buffer* odd = NULL;
    CHECK(barmap_host_buffer_create(gpu, 4097, &odd) == BARMAP_OK);
    CHECK(barmap_host_buffer_size(odd) == 4097 && barmap_host_buffer_data(odd) != host);
    void* const base = barmap_host_buffer_data(odd);
    void* address = NULL;
    CHECK(cu("cuMemHostGetDevicePointer_v2", &address, base, NULL) == 0); // CUDA has pinned it
    CHECK((uintptr_t)address == barmap_host_buffer_gpu_address(odd));
    barmap_host_buffer_destroy(odd);
    CHECK(cu("cuMemHostGetDevicePointer_v2", &address, base, NULL) != 0);
    barmap_host_buffer_destroy(NULL);
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "give a size greater than 0", odd,
            barmap_host_buffer_create(gpu, 0, &odd));
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "create a device first", odd,
            barmap_host_buffer_create(NULL, 1, &odd));
}

// Odd sizes and places, with a gap of a byte at least before and behind each.
static void scatter_places(barmap_copy_piece* pieces) {
    for (uint64_t i = 0; i < count; ++i) {
        pieces[i].to = barmap_pin_gpu_address(memory) + 1 + i * 1001;
        pieces[i].from = (uintptr_t)host + 3 + (count - 1 - i) * 1003;
        pieces[i].bytes = i * 7 % 1000; // of none, too
    }
}

static unsigned char value_of(size_t i, size_t k) {
    return (unsigned char)(i * 13 + k * 31 + 1);
}

static int is_done(uint64_t ticket) {
    int done = 7;
    CHECK(barmap_batch_queue_wait(queue, ticket, 20 * second, &done) == BARMAP_OK);
    return done == 1 && barmap_batch_queue_done(queue, ticket, &done) == BARMAP_OK && done == 1;
}

static void pieces_go_both_ways(void) {
    static barmap_copy_piece pieces[count];
    scatter_places(pieces);
    memset(host, 0, size);
    memset(at, 0xee, size);
    for (size_t i = 0; i < count; ++i)
        for (size_t k = 0; k < pieces[i].bytes; ++k)
            ((unsigned char*)(uintptr_t)pieces[i].from)[k] = value_of(i, k);
    uint64_t ticket = 0;
    CHECK(barmap_batch_queue_submit(queue, pieces, count, NULL, &ticket) == BARMAP_OK);
    CHECK(ticket != 0 && is_done(ticket));
    size_t wrong = 0;
    for (size_t i = 0; i < count; ++i) {
        unsigned char const* const there = at + 1 + i * 1001;
        for (size_t k = 0; k < pieces[i].bytes; ++k)
            wrong += there[k] != value_of(i, k);
        wrong += there[-1] != 0xee || there[pieces[i].bytes] != 0xee;
    }
    CHECK(wrong == 0);

    for (size_t i = 0; i < count; ++i)
        pieces[i] = (barmap_copy_piece){pieces[i].from, pieces[i].to, pieces[i].bytes};
    memset(host, 0xdd, size);
    CHECK(barmap_batch_queue_submit(queue, pieces, count, NULL, &ticket) == BARMAP_OK);
    CHECK(is_done(ticket));
    for (size_t i = 0; i < count; ++i) {
        unsigned char const* const there = (unsigned char const*)(uintptr_t)pieces[i].to;
        for (size_t k = 0; k < pieces[i].bytes; ++k)
            wrong += there[k] != value_of(i, k);
        wrong += there[-1] != 0xdd || there[pieces[i].bytes] != 0xdd;
    }
    CHECK(wrong == 0);
}

static void a_batch_of_nothing_is_done(void) {
    uint64_t ticket = 77;
    int done = 0;
    CHECK(barmap_batch_queue_submit(queue, NULL, 0, NULL, &ticket) == BARMAP_OK);
    CHECK(ticket == 0);
    CHECK(barmap_batch_queue_done(queue, ticket, &done) == BARMAP_OK && done == 1);
}

static atomic_int go_on;
static void hold_up(void* unused) {
    (void)unused;
    while (!atomic_load(&go_on))
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

// A batch comes after what its stream was given before, and before what it is given later.
static void a_stream_and_a_batch_keep_their_order(void) {
    barmap_copy_piece const out = {(uintptr_t)host, barmap_pin_gpu_address(memory), 100};
    barmap_copy_piece const in = {barmap_pin_gpu_address(memory) + 4096, (uintptr_t)host, 100};
    barmap_batch_options const after = {.size = sizeof after,
                                        .flags = BARMAP_BATCH_AFTER,
                                        .after = stream,
                                        .at_most_ns = UINT64_MAX};
    barmap_batch_options const both = {.size = sizeof both,
                                       .after = stream,
                                       .then = stream,
                                       .flags = BARMAP_BATCH_AFTER | BARMAP_BATCH_THEN};
    memset(at, 1, 100);
    memset(host, 2, 100);
    void (*const function)(void*) = hold_up;
    CHECK(cu("cuLaunchHostFunc", stream, *(void* const*)&function, NULL) == 0);
    uint64_t ticket = 0;
    CHECK(barmap_batch_queue_submit(queue, &out, 1, &after, &ticket) == BARMAP_OK);
    int done = 7;
    CHECK(barmap_batch_queue_wait(queue, ticket, 1000, &done) == BARMAP_OK && done == 0);
    CHECK(barmap_batch_queue_done(queue, ticket, &done) == BARMAP_OK && done == 0);
    CHECK(host[0] == 2 && host[99] == 2);
    atomic_store(&go_on, 1);
    CHECK(is_done(ticket));
    CHECK(host[0] == 1 && host[99] == 1);

    // No ticket: the stream waits for it.
    CHECK(barmap_batch_queue_submit(queue, &in, 1, &both, NULL) == BARMAP_OK);
    CHECK(cu("cuStreamSynchronize", stream, NULL, NULL) == 0);
    CHECK(at[4096] == 1 && at[4096 + 99] == 1);
}

#define REFUSED_BATCH(expected, sentence, ...)                                                     \
    do {                                                                                           \
        uint64_t ticket = 77;                                                                      \
        int const status = barmap_batch_queue_submit(__VA_ARGS__, &ticket);                              \
        refused(expected, status, sentence, (void*)(uintptr_t)ticket, __FILE__, __LINE__);         \
    } while (0)

// Inside the GPU, and to memory of the other one and back.
static void pieces_go_between_gpus(void) {
    void *here = NULL, *there = NULL, *stream_of_other = NULL;
    uint64_t other = 0, ticket = 0;
    CHECK(cu("cuCtxGetCurrent", &here, NULL, NULL) == 0);
    CHECK(cu("cuDevicePrimaryCtxRetain", &there, (void*)1, NULL) == 0);
    CHECK(cu("cuCtxSetCurrent", there, NULL, NULL) == 0);
    CHECK(cu("cuMemAlloc_v2", &other, (void*)4096, NULL) == 0);
    CHECK(cu("cuStreamCreate", &stream_of_other, (void*)1, NULL) == 0);
    CHECK(cu("cuCtxSetCurrent", here, NULL, NULL) == 0);
    uint64_t const own = barmap_pin_gpu_address(memory);
    barmap_copy_piece const out[] = {{other + 5, own, 100}, {own + 1000, own + 200, 100}};
    barmap_copy_piece const back = {own + 2000, other + 5, 100};
    for (size_t k = 0; k < 300; ++k)
        at[k] = value_of(7, k);
    memset(at + 1000, 0, 2000);
    CHECK(barmap_batch_queue_submit(queue, out, 2, NULL, &ticket) == BARMAP_OK && is_done(ticket));
    CHECK(barmap_batch_queue_submit(queue, &back, 1, NULL, &ticket) == BARMAP_OK && is_done(ticket));
    CHECK(memcmp(at + 1000, at + 200, 100) == 0 && memcmp(at + 2000, at, 100) == 0);
    barmap_batch_options const order = {
        .size = sizeof order, .flags = BARMAP_BATCH_AFTER, .after = stream_of_other};
    REFUSED_BATCH(BARMAP_ERROR_WRONG_DEVICE, "the stream belongs to GPU 1", queue, &back, 1, &order);
    CHECK(cu("cuStreamDestroy_v2", stream_of_other, NULL, NULL) == 0);
    CHECK(cu("cuMemFree_v2", (void*)(uintptr_t)other, NULL, NULL) == 0);
}

static void every_refusal(void) {
    barmap_batch_queue* other;
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "cannot create a batch queue: invalid argument; create a device",
            other, barmap_batch_queue_create(NULL, &other));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_batch_queue_create(gpu, NULL));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_host_buffer_create(gpu, 1, NULL));

    int const invalid = BARMAP_ERROR_INVALID_ARGUMENT;
    barmap_copy_piece piece = {barmap_pin_gpu_address(memory), (uintptr_t)host, 1};
    REFUSED_BATCH(invalid, "create a batch queue first", NULL, &piece, 1, NULL);
    REFUSED_BATCH(invalid, "pass the pieces, not NULL", queue, NULL, 1, NULL);
    piece.to = 0;
    REFUSED_BATCH(invalid, "copy piece 0 of a batch: invalid argument; its `to` is null", queue,
                  &piece, 1, NULL);
    piece.to = ~(uint64_t)0;
    REFUSED_BATCH(invalid, "57 bits", queue, &piece, 1, NULL);

    int done = 7;
    refused(invalid, barmap_batch_queue_done(NULL, 0, &done), "create a batch queue first", NULL, __FILE__,
            __LINE__);
    CHECK(done == 0);
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_batch_queue_done(queue, 0, NULL));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_batch_queue_wait(queue, 0, 0, NULL));
    done = 7;
    REFUSED_COPY(invalid, "give a ticket", barmap_batch_queue_done(queue, ~(uint64_t)0, &done));
    REFUSED_COPY(invalid, "give a ticket", barmap_batch_queue_done(queue, 1, &done)); // no graph's
    CHECK(done == 0);
    done = 7;
    REFUSED_COPY(invalid, "give a ticket", barmap_batch_queue_wait(queue, ~(uint64_t)0, 0, &done));
    CHECK(done == 0);
}

// Options of a version to come, of which this library does not know the end.
struct longer_options {
    barmap_batch_options known;
    uint64_t unknown[2];
};

static void options_of_every_size(void) {
    _Static_assert(sizeof(barmap_batch_options) == 40, "all of it is members");
    barmap_copy_piece const piece = {barmap_pin_gpu_address(memory), (uintptr_t)host, 1};
    int const invalid = BARMAP_ERROR_INVALID_ARGUMENT;
    static size_t const wrong[] = {0, 4, 12, 39, 41, 4104, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        barmap_batch_options const how = {.size = wrong[i]};
        REFUSED_BATCH(invalid, "sizeof(barmap_batch_options)", queue, &piece, 1, &how);
    }
    for (unsigned bit = 3; bit < 64; ++bit) {
        barmap_batch_options const flag = {.size = sizeof flag, .flags = (uint64_t)1 << bit};
        REFUSED_BATCH(invalid, "a flag that this version does not know", queue, &piece, 1, &flag);
    }
    // What a shorter structure lacks is 0, whatever lies behind it.
    barmap_batch_options const shorter = {8, ~(uint64_t)0, (void*)1, 1, (void*)1};
    CHECK(barmap_batch_queue_submit(queue, &piece, 1, &shorter, NULL) == BARMAP_OK);
    struct longer_options longer = {{.size = sizeof longer}, {0, 0}};
    CHECK(barmap_batch_queue_submit(queue, &piece, 1, &longer.known, NULL) == BARMAP_OK);
    longer.unknown[1] = 1;
    REFUSED_BATCH(invalid, "this version does not know is set", queue, &piece, 1, &longer.known);
    longer.known.size = sizeof longer - 8; // it is not part of it any more
    CHECK(barmap_batch_queue_submit(queue, &piece, 1, &longer.known, NULL) == BARMAP_OK);
    longer.unknown[0] = 1; // the first one behind those that are known
    REFUSED_BATCH(invalid, "this version does not know is set", queue, &piece, 1, &longer.known);
}

static void handles_go_in_any_order(void) {
    barmap_device* device = NULL;
    barmap_batch_queue* other = NULL;
    CHECK(barmap_device_create(1, &device) == BARMAP_OK);
    CHECK(barmap_batch_queue_create(device, &other) == BARMAP_OK);
    barmap_device_destroy(device);
    CHECK(strcmp(barmap_batch_queue_engine(other), barmap_batch_queue_engine(queue)) == 0);
    barmap_batch_queue_destroy(other);
    barmap_batch_queue_destroy(NULL);
}

static void a_forked_child_is_refused(void) {
    barmap_copy_piece const piece = {barmap_pin_gpu_address(memory), (uintptr_t)host, 1};
    pid_t const child = fork();
    if (child == 0) {
        failures = 0;
        int const forked = BARMAP_ERROR_FORKED_CHILD;
        int done;
        barmap_batch_queue* other;
        REFUSED(forked, "parent", other, barmap_batch_queue_create(gpu, &other));
        barmap_host_buffer* more;
        REFUSED(forked, "parent", more, barmap_host_buffer_create(gpu, 1, &more));
        barmap_host_buffer_destroy(pinned);
        REFUSED_BATCH(forked, "parent", queue, &piece, 1, NULL);
        REFUSED_COPY(forked, "parent", barmap_batch_queue_done(queue, 0, &done));
        REFUSED_COPY(forked, "parent", barmap_batch_queue_wait(queue, 0, 0, &done));
        CHECK(strcmp(barmap_batch_queue_engine(queue), "") == 0);
        barmap_batch_queue_destroy(queue);
        _exit(failures);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    uint64_t ticket = 0;
    CHECK(barmap_batch_queue_submit(queue, &piece, 1, NULL, &ticket) == BARMAP_OK);
    CHECK(is_done(ticket));
}

int main(int argc, char** argv) {
    (void)argv;
    if (argc > 1) { // BARMAP_ENGINE=none
        CHECK(barmap_device_create(0, &gpu) == BARMAP_OK);
        REFUSED(BARMAP_ERROR_BACKEND_ABSENT, "allows no copy engine", queue,
                barmap_batch_queue_create(gpu, &queue));
        barmap_device_destroy(gpu);
        return failures != 0;
    }
    set_up();
    if (failures)
        return 1;
    CHECK(strlen(barmap_batch_queue_engine(queue)) > 0);
    host_memory_is_zeroed_and_pinned();
    pieces_go_both_ways();
    a_batch_of_nothing_is_done();
    a_stream_and_a_batch_keep_their_order();
    pieces_go_between_gpus();
    every_refusal();
    options_of_every_size();
    handles_go_in_any_order();
    a_forked_child_is_refused();
    barmap_batch_queue_destroy(queue);
    barmap_host_buffer_destroy(pinned);
    barmap_mapping_destroy(map);
    barmap_pin_destroy(memory);
    barmap_device_destroy(gpu);
    return failures != 0;
}
