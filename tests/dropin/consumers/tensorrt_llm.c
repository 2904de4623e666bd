/* SPDX-License-Identifier: MIT */
/*
 * As TensorRT-LLM's MoE load balancer uses libgdrapi: NCCL's wrapper with gdr_get_info of the first
 * generation, a session opened only to ask for versions, then one that is never closed, and weights
 * that several threads copy through one handle without a lock.
 */
#include "gpu_memory.h"

#include <dlfcn.h>
#include <pthread.h>

typedef struct gdr* gdr_t;
typedef struct {
    unsigned long h;
} gdr_mh_t;
struct info_v1 {
    uint64_t va;
    uint64_t mapped_size;
    uint32_t page_size;
    uint64_t tm_cycles;
    uint32_t cycles_per_ms;
    unsigned mapped : 1;
    unsigned wc_mapping : 1;
};
_Static_assert(sizeof(struct info_v1) == 40, "as libgdrapi's");

static struct {
    gdr_t (*open)(void);
    int (*close)(gdr_t);
    int (*pin_buffer)(gdr_t, unsigned long, size_t, uint64_t, uint32_t, gdr_mh_t*);
    int (*unpin_buffer)(gdr_t, gdr_mh_t);
    int (*get_info)(gdr_t, gdr_mh_t, struct info_v1*);
    int (*map)(gdr_t, gdr_mh_t, void**, size_t);
    int (*unmap)(gdr_t, gdr_mh_t, void*, size_t);
    void (*runtime_get_version)(int*, int*);
    void (*driver_get_version)(gdr_t, int*, int*); /* its answer is not looked at */
    int (*copy_to_mapping)(gdr_mh_t, void*, void const*, size_t);
    int (*copy_from_mapping)(gdr_mh_t, void*, void const*, size_t);
} gdr;

static void take(void* library, char const* name, void* function) {
    take_symbol(library, name, function);
    void* found;
    memcpy(&found, function, sizeof found);
    if (!found)
        fail("libgdrapi.so has no %s", name);
}

static void load(void) {
    void* const library = dlopen("libgdrapi.so", RTLD_NOW);
    if (!library)
        fail("%s", dlerror());
    take(library, "gdr_open", &gdr.open);
    take(library, "gdr_close", &gdr.close);
    take(library, "gdr_pin_buffer", &gdr.pin_buffer);
    take(library, "gdr_unpin_buffer", &gdr.unpin_buffer);
    take(library, "gdr_get_info", &gdr.get_info);
    take(library, "gdr_map", &gdr.map);
    take(library, "gdr_unmap", &gdr.unmap);
    take(library, "gdr_runtime_get_version", &gdr.runtime_get_version);
    take(library, "gdr_driver_get_version", &gdr.driver_get_version);
    take(library, "gdr_copy_to_mapping", &gdr.copy_to_mapping);
    take(library, "gdr_copy_from_mapping", &gdr.copy_from_mapping);
    gdr_t const g = gdr.open();
    if (!g)
        fail("gdr_open gave NULL");
    int library_major = 0, library_minor = 0, driver_major = 0, driver_minor = 0;
    gdr.runtime_get_version(&library_major, &library_minor);
    gdr.driver_get_version(g, &driver_major, &driver_minor);
    gdr.close(g);
    REQUIRE(library_major > 2 || (library_major == 2 && library_minor >= 1));
    REQUIRE(driver_major > 2 || (driver_major == 2 && driver_minor >= 1));
}

struct weights {
    uint64_t block;
    uint64_t gpu;
    char* cpu;
    void* map;
    size_t map_size;
    gdr_mh_t handle;
};

static struct weights allocate(struct cuda_driver const* cuda, gdr_t g, size_t size) {
    struct weights made;
    made.map_size = next_page(size);
    require_cuda(cuda->mem_alloc(&made.block, made.map_size + GPU_PAGE - 1), "cuMemAlloc");
    uint64_t const aligned = next_page(made.block);
    REQUIRE_0(gdr.pin_buffer(g, aligned, made.map_size, 0, 0, &made.handle));
    REQUIRE_0(gdr.map(g, made.handle, &made.map, made.map_size));
    struct {
        struct info_v1 info;
        uint64_t canary[4];
    } place;
    memset(&place, 0xee, sizeof place);
    REQUIRE_0(gdr.get_info(g, made.handle, &place.info));
    for (unsigned i = 0; i < 4; ++i)
        REQUIRE(place.canary[i] == 0xeeeeeeeeeeeeeeeeu);
    uint64_t const offset = place.info.va - aligned;
    made.cpu = (char*)made.map + offset;
    made.gpu = aligned + offset;
    return made;
}

static void free_weights(struct cuda_driver const* cuda, gdr_t g, struct weights what) {
    REQUIRE_0(gdr.unmap(g, what.handle, what.map, what.map_size));
    REQUIRE_0(gdr.unpin_buffer(g, what.handle));
    require_cuda(cuda->mem_free(what.block), "cuMemFree");
}

enum { thread_count = 8, rounds = 40 };
struct thread_work {
    struct weights const* weights;
    size_t offset, size;
    unsigned seed;
};

/* An expert's weights: rows of a size that is no multiple of anything. */
static void* update_expert(void* argument) {
    struct thread_work const* const work = argument;
    unsigned char* const bytes = some_bytes(work->size);
    for (unsigned round = 0; round < rounds; ++round) {
        unsigned const seed = work->seed + round;
        char* const place = work->weights->cpu + work->offset;
        fill_pattern(bytes, work->size, seed);
        size_t const row = 1337;
        for (size_t at = 0; at < work->size; at += row) {
            size_t const size = work->size - at < row ? work->size - at : row;
            REQUIRE_0(gdr.copy_to_mapping(work->weights->handle, place + at, bytes + at, size));
        }
        memset(bytes, 0, work->size);
        REQUIRE_0(gdr.copy_from_mapping(work->weights->handle, bytes, place, work->size));
        require_pattern(bytes, work->size, seed, "an expert's weights");
    }
    free(bytes);
    return NULL;
}

static void update_all(struct cuda_driver const* cuda, struct weights const* weights, size_t size) {
    size_t const each = size / thread_count;
    pthread_t running[thread_count];
    struct thread_work work[thread_count];
    for (unsigned i = 0; i < thread_count; ++i) {
        work[i] = (struct thread_work){weights, i * each, each, 100 * (i + 1)};
        REQUIRE_0(pthread_create(&running[i], NULL, update_expert, &work[i]));
    }
    for (unsigned i = 0; i < thread_count; ++i)
        REQUIRE_0(pthread_join(running[i], NULL));
    for (unsigned i = 0; i < thread_count; ++i)
        require_gpu_pattern(cuda, weights->gpu + i * each, each, 100 * (i + 1) + rounds - 1,
                            "the weights on the GPU");
}

int main(void) {
    struct cuda_driver const cuda = start_cuda(0);
    load();
    gdr_t const g = gdr.open();
    REQUIRE(g);
    struct neighbours around = {.made = 0};
    make_neighbour(&cuda, &around);
    size_t const size = thread_count * 30011;
    struct weights const first = allocate(&cuda, g, size);
    make_neighbour(&cuda, &around);
    struct weights const statistics = allocate(&cuda, g, 100);
    make_neighbour(&cuda, &around);
    update_all(&cuda, &first, size);
    update_all(&cuda, &statistics, 96);
    require_neighbours_untouched(&cuda, &around);
    free_weights(&cuda, g, statistics);
    update_all(&cuda, &first, size);
    free_neighbours(&cuda, &around);
    printf("tensorrt_llm: ok\n"); /* the session and the first weights live until the exit */
    return 0;
}
