/* SPDX-License-Identifier: MIT */
/*
 * As TensorRT-LLM's MoE load balancer uses libgdrapi: NCCL's wrapper with gdr_get_info of the first
 * generation, a session opened only to ask for versions, then one that is never closed, and weights
 * that several threads copy through one handle without a lock.
 */
#include "loaded_library.h"

#include <pthread.h>

static void load(void) {
    load_library("libgdrapi.so", RTLD_NOW,
                 "open close pin_buffer unpin_buffer get_info map unmap runtime_get_version "
                 "driver_get_version copy_to_mapping copy_from_mapping");
    gdr_t const g = open_session();
    REQUIRE(library_version() >= 2001 && driver_version(g) >= 2001);
    gdr.close(g);
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
    uint64_t const offset = look_up_info(g, made.handle, gdr.get_info, info_v1_size).va - aligned;
    made.cpu = (char*)made.map + offset;
    made.gpu = aligned + offset;
    return made;
}

static void free_weights(struct cuda_driver const* cuda, gdr_t g, struct weights what) {
    unmap_and_unpin(g, what.handle, what.map, what.map_size);
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
    gdr_t const g = open_session();
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
