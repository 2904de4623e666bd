/* SPDX-License-Identifier: MIT */
/*
 * As NVSHMEM's transports use libgdrapi: the versioned name with RTLD_LAZY, the version before
 * anything else, gdr_get_info of the first generation (of the second in newer releases), a whole
 * heap pinned as one range, from cudaMalloc or of VMM chunks, and CPU atomics by plain loads and
 * stores of up to 8 bytes.
 */
#include "gpu_memory.h"

#include <dlfcn.h>

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

enum { built_with_major = 2, built_with_minor = 5 };

static struct {
    gdr_t (*open)(void);
    int (*close)(gdr_t);
    int (*pin_buffer)(gdr_t, unsigned long, size_t, uint64_t, uint32_t, gdr_mh_t*);
    int (*unpin_buffer)(gdr_t, gdr_mh_t);
    int (*get_info)(gdr_t, gdr_mh_t, void*);
    int (*map)(gdr_t, gdr_mh_t, void**, size_t);
    int (*unmap)(gdr_t, gdr_mh_t, void*, size_t);
    int (*copy_from_mapping)(gdr_mh_t, void*, void const*, size_t);
    int (*copy_to_mapping)(gdr_mh_t, void*, void const*, size_t);
    void (*runtime_get_version)(int*, int*);
    int (*driver_get_version)(gdr_t, int*, int*);
    int (*get_attribute)(gdr_t, int, int*);
} gdr;
static size_t info_size;

static void take(void* library, char const* name, void* function) {
    take_symbol(library, name, function);
    void* found;
    memcpy(&found, function, sizeof found);
    if (!found)
        fail("libgdrapi.so.2 has no %s", name);
}

static gdr_t start(void** library_out, int newer) {
    void* const library = dlopen("libgdrapi.so.2", RTLD_LAZY);
    if (!library)
        fail("%s", dlerror());
    *library_out = library;
    take(library, "gdr_runtime_get_version", &gdr.runtime_get_version);
    int major = 0, minor = 0;
    gdr.runtime_get_version(&major, &minor);
    if (major != built_with_major || minor < built_with_minor)
        fail("version %d.%d does not serve programs built with %d.%d", major, minor,
             built_with_major, built_with_minor);
    take(library, "gdr_driver_get_version", &gdr.driver_get_version);
    take(library, "gdr_open", &gdr.open);
    take(library, "gdr_close", &gdr.close);
    take(library, "gdr_pin_buffer", &gdr.pin_buffer);
    take(library, "gdr_unpin_buffer", &gdr.unpin_buffer);
    take(library, "gdr_map", &gdr.map);
    take(library, "gdr_unmap", &gdr.unmap);
    take(library, newer ? "gdr_get_info_v2" : "gdr_get_info", &gdr.get_info);
    info_size = newer ? 48 : sizeof(struct info_v1);
    take(library, "gdr_copy_from_mapping", &gdr.copy_from_mapping);
    take(library, "gdr_copy_to_mapping", &gdr.copy_to_mapping);
    take_symbol(library, "gdr_get_attribute", &gdr.get_attribute);
    gdr_t const g = gdr.open();
    if (!g)
        fail("gdr_open gave NULL");
    int by_dmabuf = 0;
    if (newer && gdr.get_attribute)
        REQUIRE_0(gdr.get_attribute(g, 3, &by_dmabuf));
    if (!newer || !by_dmabuf)
        REQUIRE_0(gdr.driver_get_version(g, &major, &minor));
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
    struct {
        struct info_v1 info;
        unsigned char rest[88];
    } place;
    memset(&place, 0x5a, sizeof place);
    REQUIRE_0(gdr.get_info(g, region.handle, &place));
    for (size_t i = info_size; i < sizeof place; ++i)
        REQUIRE(((unsigned char*)&place)[i] == 0x5a);
    REQUIRE(place.info.va <= address);
    REQUIRE(place.info.va + place.info.mapped_size >= address + pinned);
    region.cpu = (unsigned char*)region.base + (address - place.info.va);
    return region;
}

static void release_region(gdr_t g, struct region region) {
    REQUIRE_0(gdr.unmap(g, region.handle, region.base, region.mapped));
    REQUIRE_0(gdr.unpin_buffer(g, region.handle));
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

static void whole(struct cuda_driver const* cuda, struct region region, size_t size) {
    void* const bytes = some_bytes(size);
    fill_pattern(bytes, size, 3);
    REQUIRE_0(gdr.copy_to_mapping(region.handle, region.cpu, bytes, size));
    require_gpu_pattern(cuda, region.gpu, size, 3, "heap after gdr_copy_to_mapping");
    upload_pattern(cuda, region.gpu, size, 4);
    REQUIRE_0(gdr.copy_from_mapping(region.handle, bytes, region.cpu, size));
    require_pattern(bytes, size, 4, "heap after gdr_copy_from_mapping");
    free(bytes);
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
    whole(cuda, region, heap_size);
    atomics(cuda, region, heap_size);
    release_region(g, region);
    require_cuda(cuda->mem_free(heap), "cuMemFree");

    struct gpu_chunks const chunks = make_chunks(cuda, 4);
    size_t const size = chunks.chunk_size * chunks.count;
    struct region second = register_region(g, chunks.address + chunks.chunk_size, chunks.chunk_size,
                                           chunks.chunk_size);
    region = register_region(g, chunks.address, size, size);
    whole(cuda, region, size);
    atomics(cuda, region, size);
    whole(cuda, second, chunks.chunk_size);
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
