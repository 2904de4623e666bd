/* SPDX-License-Identifier: MIT */
/*
 * As libfabric uses libgdrapi (providers EFA and SHM, built with dlopen): the unversioned name,
 * then the versioned one; eight symbols and no information call. A registration's start is rounded
 * down to a GPU page, and the mapping is taken to begin exactly there.
 */
#include <gdrapi.h>

#include "loaded_library.h"

#include <pthread.h>

static pthread_spinlock_t lock;

/* The first library of the list that has all symbols. */
static void* load(char const* const* names, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        void* const library = dlopen(names[i], RTLD_NOW);
        if (!library)
            continue;
        if (take_functions(library, "open close pin_buffer unpin_buffer map unmap copy_to_mapping "
                                    "copy_from_mapping") == 0)
            return library;
        dlclose(library);
    }
    fail("no libgdrapi has all symbols");
}

struct registration {
    gdr_mh_t handle;
    uint64_t gpu;
    char* cpu;
    size_t length;
};

static struct registration enroll(gdr_t g, uint64_t address, size_t size) {
    struct registration made;
    made.gpu = page_of(address);
    made.length = next_page(address + size - made.gpu);
    void* start = NULL;
    pthread_spin_lock(&lock);
    REQUIRE_0(gdr.pin_buffer(g, made.gpu, made.length, 0, 0, &made.handle));
    REQUIRE_0(gdr.map(g, made.handle, &start, made.length));
    pthread_spin_unlock(&lock);
    made.cpu = start;
    return made;
}

static void dismiss(gdr_t g, struct registration what) {
    pthread_spin_lock(&lock);
    unmap_and_unpin(g, what.handle, what.cpu, what.length);
    pthread_spin_unlock(&lock);
}

/* Their answers are not looked at; the bytes are. */
static void to_device(struct registration at, uint64_t address, void const* from, size_t size) {
    REQUIRE(address >= at.gpu && address + size <= at.gpu + at.length);
    gdr.copy_to_mapping(at.handle, at.cpu + (address - at.gpu), from, size);
}

static void from_device(struct registration at, uint64_t address, void* to, size_t size) {
    gdr.copy_from_mapping(at.handle, to, at.cpu + (address - at.gpu), size);
}

static void exchange(struct cuda_driver const* cuda, gdr_t g, uint64_t address, size_t size,
                     unsigned seed) {
    struct registration const memory = enroll(g, address, size);
    unsigned char* const bytes = some_bytes(size);
    fill_pattern(bytes, size, seed);
    to_device(memory, address, bytes, size);
    require_gpu_pattern(cuda, address, size, seed, "after a copy to the device");
    upload_pattern(cuda, address, size, seed + 1);
    memset(bytes, 0, size);
    from_device(memory, address, bytes, size);
    require_pattern(bytes, size, seed + 1, "after a copy from the device");
    free(bytes);
    dismiss(g, memory);
}

struct thread_work {
    struct cuda_driver const* cuda;
    gdr_t g;
    struct gpu_block block;
};

/* Threads register under the lock, and copy without it. */
static void* exchange_often(void* argument) {
    struct thread_work* const work = argument;
    require_cuda(work->cuda->set_current(work->cuda->context), "cuCtxSetCurrent");
    for (unsigned i = 0; i < 50; ++i)
        exchange(work->cuda, work->g, work->block.address + i % 7, work->block.size - 7,
                 work->block.seed + i);
    return NULL;
}

static void run(struct cuda_driver const* cuda, char const* const* names, size_t count) {
    void* const library = load(names, count);
    gdr_t const g = open_session();
    struct neighbours around = {.made = 0};
    make_neighbour(cuda, &around);
    size_t const sizes[] = {100, 4096, 70000, 3 << 20};
    struct gpu_block blocks[sizeof sizes / sizeof *sizes];
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        blocks[i] = allocate_block(cuda, sizes[i], 60 + i);
        make_neighbour(cuda, &around);
    }
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        exchange(cuda, g, blocks[i].address, blocks[i].size, 10 + i);
        exchange(cuda, g, blocks[i].address + 3, blocks[i].size - 8, 20 + i);
        exchange(cuda, g, blocks[i].address + blocks[i].size - 1, 1, 30 + i);
    }
    /* Two registrations of the same pages at once. */
    struct registration const first = enroll(g, blocks[0].address, blocks[0].size);
    exchange(cuda, g, blocks[1].address, blocks[1].size, 40);
    exchange(cuda, g, blocks[0].address, blocks[0].size, 41);
    unsigned char seen[100];
    from_device(first, blocks[0].address, seen, sizeof seen);
    require_pattern(seen, sizeof seen, 42, "the first registration");
    dismiss(g, first);

    pthread_t running[4];
    struct thread_work work[4];
    for (unsigned i = 0; i < 4; ++i) {
        work[i] = (struct thread_work){cuda, g, allocate_block(cuda, 3000, 70 + 50 * i)};
        REQUIRE_0(pthread_create(&running[i], NULL, exchange_often, &work[i]));
    }
    for (unsigned i = 0; i < 4; ++i) {
        REQUIRE_0(pthread_join(running[i], NULL));
        free_block(cuda, work[i].block);
    }
    require_neighbours_untouched(cuda, &around);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        free_block(cuda, blocks[i]);
    free_neighbours(cuda, &around);
    REQUIRE_0(gdr.close(g));
    REQUIRE_0(dlclose(library));
}

int main(void) {
    struct cuda_driver const cuda = start_cuda(0);
    REQUIRE_0(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE));
    char const* const usual[] = {"libgdrapi.so", "libgdrapi.so.2"};
    char const* const no_link[] = {"libgdrapi_is_not_here.so", "libgdrapi.so.2"};
    run(&cuda, usual, 2);
    run(&cuda, no_link, 2);
    printf("libfabric: ok\n");
    return 0;
}
