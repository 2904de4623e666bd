/* SPDX-License-Identifier: MIT */
/*
 * As NCCL's core uses libgdrapi: the unversioned name, gdr_get_info of the first generation, whole
 * aligned pages inside a larger cudaMalloc, plain stores through the pointer, a flush by a load.
 * Newer releases look for more symbols and then fill the longer struct; both are played.
 */
#include "loaded_library.h"

static void load(int newer) {
    memset(&gdr, 0, sizeof gdr);
    void* const library =
        load_library("libgdrapi.so", RTLD_NOW,
                     "open close pin_buffer unpin_buffer get_info map unmap runtime_get_version "
                     "driver_get_version copy_to_mapping copy_from_mapping");
    take_functions(library, "pin_buffer_v2");
    if (newer)
        take_functions(library, "get_info_v2 get_attribute");
}

static gdr_t start(void) {
    gdr_t const g = open_session();
    REQUIRE(library_version() >= 2001 && driver_version(g) >= 2001);
    if (gdr.get_attribute) {
        int by_dmabuf = -1;
        REQUIRE_0(gdr.get_attribute(g, 3, &by_dmabuf));
        REQUIRE(by_dmabuf == 0 || by_dmabuf == 1);
    }
    return g;
}

struct buffer {
    uint64_t block;       /* what cudaMalloc gave */
    uint64_t gpu;         /* where the elements are for a kernel */
    unsigned char* bytes; /* and for the CPU */
    void* map;
    size_t map_size;
    gdr_mh_t handle;
};

static struct buffer allocate(struct cuda_driver const* cuda, gdr_t g, size_t size,
                              uint32_t flags) {
    struct buffer made;
    made.map_size = next_page(size);
    require_cuda(cuda->mem_alloc(&made.block, made.map_size + GPU_PAGE - 1), "cuMemAlloc");
    require_cuda(cuda->set_bytes(made.block, 0, made.map_size + GPU_PAGE - 1), "cuMemsetD8");
    require_cuda(cuda->synchronize(), "cuCtxSynchronize");
    uint64_t const aligned = next_page(made.block);
    if (gdr.pin_buffer_v2 && library_version() >= 2005)
        REQUIRE_0(gdr.pin_buffer_v2(g, aligned, made.map_size, flags, &made.handle));
    else
        REQUIRE_0(gdr.pin_buffer(g, aligned, made.map_size, 0, 0, &made.handle));
    made.map = NULL;
    REQUIRE_0(gdr.map(g, made.handle, &made.map, made.map_size));
    struct info_v1 const info = gdr.get_info_v2
                                    ? look_up_info(g, made.handle, gdr.get_info_v2, info_v2_size)
                                    : look_up_info(g, made.handle, gdr.get_info, info_v1_size);
    REQUIRE(info.mapped_size >= made.map_size);
    int64_t const offset = (int64_t)(info.va - aligned);
    made.bytes = (unsigned char*)made.map + offset;
    made.gpu = aligned + (uint64_t)offset;
    return made;
}

static void free_buffer(struct cuda_driver const* cuda, gdr_t g, struct buffer buffer) {
    unmap_and_unpin(g, buffer.handle, buffer.map, buffer.map_size);
    require_cuda(cuda->mem_free(buffer.block), "cuMemFree");
}

/* A proxy's step counter: one 8-byte word, stored to plainly, and flushed by a load. */
static void use_as_counter(struct cuda_driver const* cuda, struct buffer buffer) {
    uint64_t volatile* const word = (uint64_t volatile*)buffer.bytes;
    REQUIRE(word[0] == 0 && word[1] == 0);
    for (uint64_t step = 1; step <= 100; ++step) {
        exchange_word(cuda, buffer.bytes, buffer.gpu, step * 0x0101010101010101u);
        exchange_word(cuda, buffer.bytes + 8, buffer.gpu + 8, step);
    }
}

/* The work fifo: plain stores of whole entries, and copies by the library. */
static void use_as_fifo(struct cuda_driver const* cuda, struct buffer buffer, size_t size) {
    exchange_bytes(cuda, buffer.handle, buffer.bytes, buffer.gpu, size, 7);
    unsigned char* const pattern = some_bytes(size);
    fill_pattern(pattern, size, 9);
    for (size_t i = 0; i + 8 <= size; i += 8)
        memcpy(buffer.bytes + i, pattern + i, 8);
    store_fence();
    require_gpu_pattern(cuda, buffer.gpu, size & ~(size_t)7, 9, "after plain stores");
    free(pattern);
}

static void run(struct cuda_driver const* cuda, int newer) {
    load(newer);
    gdr_t const g = start();
    struct neighbours around = {.made = 0};
    make_neighbour(cuda, &around);
    struct buffer const sync = allocate(cuda, g, 8, 0);
    make_neighbour(cuda, &around);
    struct buffer const flush = allocate(cuda, g, 16, 0);
    make_neighbour(cuda, &around);
    size_t const fifo_size = 1 << 20;
    struct buffer const fifo = allocate(cuda, g, fifo_size, 0);
    make_neighbour(cuda, &around);
    use_as_counter(cuda, sync);
    use_as_counter(cuda, flush);
    use_as_fifo(cuda, fifo, fifo_size);
    free_buffer(cuda, g, sync);
    struct buffer const another = allocate(cuda, g, 8, 0);
    use_as_counter(cuda, another);
    free_buffer(cuda, g, another);
    free_buffer(cuda, g, fifo);
    free_buffer(cuda, g, flush);
    require_neighbours_untouched(cuda, &around);
    free_neighbours(cuda, &around);
    REQUIRE_0(gdr.close(g));
}

int main(void) {
    struct cuda_driver const cuda = start_cuda(0);
    run(&cuda, 0);
    run(&cuda, 1);
    printf("nccl: ok\n");
    return 0;
}
