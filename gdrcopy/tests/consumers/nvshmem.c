/* SPDX-License-Identifier: MIT */
/*
 * As NVSHMEM's transports use libgdrapi: the versioned name with RTLD_LAZY, the version before
 * anything else, gdr_get_info of the first generation (of the second in newer releases), a whole
 * heap pinned as one range, from cudaMalloc or of VMM chunks, and CPU atomics by plain loads and
 * stores of up to 8 bytes.
 */
#include "loaded_library.h"

enum { built_with_major = 2, built_with_minor = 5 };
static size_t info_size;

static gdr_t start(void** library, int newer) {
    memset(&gdr, 0, sizeof gdr);
    *library = load_library("libgdrapi.so.2", RTLD_LAZY, "runtime_get_version");
    int const version = library_version();
    if (version / 1000 != built_with_major || version % 1000 < built_with_minor)
        fail("version %d does not serve programs built with %d.%d", version, built_with_major,
             built_with_minor);
    REQUIRE(take_functions(*library, "driver_get_version open close pin_buffer unpin_buffer map "
                                     "unmap copy_from_mapping copy_to_mapping") == 0);
    REQUIRE(take_functions(*library, newer ? "get_info_v2" : "get_info") == 0);
    info_size = newer ? info_v2_size : info_v1_size;
    take_functions(*library, "get_attribute");
    gdr_t const g = open_session();
    int by_dmabuf = 0;
    if (newer && gdr.get_attribute)
        REQUIRE_0(gdr.get_attribute(g, 3, &by_dmabuf));
    if (!newer || !by_dmabuf)
        REQUIRE(driver_version(g) >= 2000);
    return g;
}

struct region {
    uint64_t gpu;
    unsigned char* cpu; /* of gpu */
    void* base;
    size_t mapped; /* as told to gdr_map */
    gdr_mh_t handle;
};

static struct region register_region(gdr_t g, uint64_t address, size_t pinned, size_t mapped) {
    struct region region;
    region.gpu = address;
    region.mapped = mapped;
    REQUIRE_0(gdr.pin_buffer(g, address, pinned, 0, 0, &region.handle));
    REQUIRE_0(gdr.map(g, region.handle, &region.base, mapped));
    struct info_v1 const info =
        look_up_info(g, region.handle, gdr.get_info_v2 ? gdr.get_info_v2 : gdr.get_info, info_size);
    REQUIRE(info.va <= address);
    REQUIRE(info.va + info.mapped_size >= address + pinned);
    region.cpu = (unsigned char*)region.base + (address - info.va);
    return region;
}

static void release_region(gdr_t g, struct region region) {
    unmap_and_unpin(g, region.handle, region.base, region.mapped);
}

#define FETCH_ADD(type, region, offset, add)                                                       \
    do {                                                                                           \
        type const before_ = (type)0x0807060504030201u;                                            \
        require_cuda(cuda->to_device((region).gpu + (offset), &before_, sizeof before_),           \
                     "cuMemcpyHtoD");                                                              \
        require_cuda(cuda->synchronize(), "cuCtxSynchronize");                                     \
        load_fence();                                                                              \
        type volatile* const word_ = (type volatile*)((region).cpu + (offset));                    \
        type const old_ = *word_;                                                                  \
        REQUIRE(old_ == before_);                                                                  \
        *word_ = (type)(old_ + (add));                                                             \
        store_fence();                                                                             \
        type seen_ = 0;                                                                            \
        require_cuda(cuda->to_host(&seen_, (region).gpu + (offset), sizeof seen_),                 \
                     "cuMemcpyDtoH");                                                              \
        REQUIRE(seen_ == (type)(before_ + (add)));                                                 \
    } while (0)

/* Remote atomics that the CPU carries out, at both ends of the region. */
static void atomics(struct cuda_driver const* cuda, struct region region, size_t size) {
    size_t const places[] = {0, 8, size / 2 & ~(size_t)7, size - 8};
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        FETCH_ADD(uint64_t, region, places[i], 77);
        FETCH_ADD(uint32_t, region, places[i] + 4, 5);
        FETCH_ADD(uint16_t, region, places[i] + 2, 3);
        FETCH_ADD(uint8_t, region, places[i] + 1, 1);
        int seen = 0, told = 0; /* the flush before a quiet */
        REQUIRE_0(gdr.copy_from_mapping(region.handle, &seen, region.cpu + places[i], sizeof seen));
        require_cuda(cuda->to_host(&told, region.gpu + places[i], sizeof told), "cuMemcpyDtoH");
        REQUIRE(seen == told);
    }
}

/* ibgda's small objects: whole pages are pinned, but only what is needed is mapped. */
static void small_objects(struct cuda_driver const* cuda, gdr_t g) {
    struct neighbours around = {.made = 0};
    size_t const sizes[] = {8, 4096, 65536, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        make_neighbour(cuda, &around);
        size_t const block_size = next_page(sizes[i]) + GPU_PAGE - 1;
        uint64_t block = 0;
        require_cuda(cuda->mem_alloc(&block, block_size), "cuMemAlloc");
        unsigned const sync_memops = 1;
        require_cuda(cuda->set_attribute(&sync_memops, cuda_attribute_sync_memops, block),
                     "cuPointerSetAttribute");
        struct region const object =
            register_region(g, next_page(block), next_page(sizes[i]), sizes[i]);
        atomics(cuda, object, sizes[i]);
        release_region(g, object);
        require_cuda(cuda->mem_free(block), "cuMemFree");
    }
    require_neighbours_untouched(cuda, &around);
    free_neighbours(cuda, &around);
}

static void run(struct cuda_driver const* cuda, int newer) {
    void* library = NULL;
    gdr_t const g = start(&library, newer);
    size_t const heap_size = 8 << 20;
    uint64_t heap = 0;
    require_cuda(cuda->mem_alloc(&heap, heap_size), "cuMemAlloc");
    struct region region = register_region(g, heap, heap_size, heap_size);
    exchange_bytes(cuda, region.handle, region.cpu, region.gpu, heap_size, 3);
    atomics(cuda, region, heap_size);
    release_region(g, region);
    require_cuda(cuda->mem_free(heap), "cuMemFree");

    struct gpu_chunks const chunks = make_chunks(cuda, 4);
    size_t const size = chunks.chunk_size * chunks.count;
    struct region second = register_region(g, chunks.address + chunks.chunk_size, chunks.chunk_size,
                                           chunks.chunk_size);
    region = register_region(g, chunks.address, size, size);
    exchange_bytes(cuda, region.handle, region.cpu, region.gpu, size, 3);
    atomics(cuda, region, size);
    exchange_bytes(cuda, second.handle, second.cpu, second.gpu, chunks.chunk_size, 3);
    release_region(g, region);
    atomics(cuda, second, chunks.chunk_size);
    release_region(g, second);
    free_chunks(cuda, chunks);

    small_objects(cuda, g);
    REQUIRE_0(gdr.close(g));
    REQUIRE_0(dlclose(library));
}

int main(void) {
    struct cuda_driver const cuda = start_cuda(0);
    run(&cuda, 0);
    run(&cuda, 1);
    printf("nvshmem: ok\n");
    return 0;
}
