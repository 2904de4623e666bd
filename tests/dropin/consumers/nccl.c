/* SPDX-License-Identifier: MIT */
/*
 * As NCCL's core uses libgdrapi: the unversioned name, gdr_get_info of the first generation, whole
 * aligned pages inside a larger cudaMalloc, plain stores through the pointer, a flush by a load.
 * Newer releases look for more symbols and then fill the longer struct; both are played.
 */
#include "gpu_memory.h"

#include <dlfcn.h>

/* What NCCL declares itself, as of gdrapi 2.1 and 2.6. */
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
struct info_v2 {
    struct info_v1 old;
    int mapping_type;
};
_Static_assert(sizeof(struct info_v1) == 40 && sizeof(struct info_v2) == 48, "as libgdrapi's");

static struct {
    gdr_t (*open)(void);
    int (*close)(gdr_t);
    int (*pin_buffer)(gdr_t, unsigned long, size_t, uint64_t, uint32_t, gdr_mh_t*);
    int (*pin_buffer_v2)(gdr_t, unsigned long, size_t, uint32_t, gdr_mh_t*);
    int (*unpin_buffer)(gdr_t, gdr_mh_t);
    int (*get_info)(gdr_t, gdr_mh_t, void*);
    int (*get_info_v2)(gdr_t, gdr_mh_t, void*);
    int (*map)(gdr_t, gdr_mh_t, void**, size_t);
    int (*unmap)(gdr_t, gdr_mh_t, void*, size_t);
    void (*runtime_get_version)(int*, int*);
    int (*driver_get_version)(gdr_t, int*, int*);
    int (*get_attribute)(gdr_t, int, int*);
    int (*copy_to_mapping)(gdr_mh_t, void*, void const*, size_t);
    int (*copy_from_mapping)(gdr_mh_t, void*, void const*, size_t);
} gdr;

static void take(void* library, char const* name, void* function, int required) {
    take_symbol(library, name, function);
    void* found;
    memcpy(&found, function, sizeof found);
    if (required && !found)
        fail("libgdrapi.so has no %s", name);
}

static void load(int newer) {
    void* const library = dlopen("libgdrapi.so", RTLD_NOW);
    if (!library)
        fail("%s", dlerror());
    take(library, "gdr_open", &gdr.open, 1);
    take(library, "gdr_close", &gdr.close, 1);
    take(library, "gdr_pin_buffer", &gdr.pin_buffer, 1);
    take(library, "gdr_pin_buffer_v2", &gdr.pin_buffer_v2, 0);
    take(library, "gdr_unpin_buffer", &gdr.unpin_buffer, 1);
    take(library, "gdr_get_info", &gdr.get_info, 1);
    gdr.get_info_v2 = NULL;
    gdr.get_attribute = NULL;
    if (newer) {
        take(library, "gdr_get_info_v2", &gdr.get_info_v2, 0);
        take(library, "gdr_get_attribute", &gdr.get_attribute, 0);
    }
    take(library, "gdr_map", &gdr.map, 1);
    take(library, "gdr_unmap", &gdr.unmap, 1);
    take(library, "gdr_runtime_get_version", &gdr.runtime_get_version, 1);
    take(library, "gdr_driver_get_version", &gdr.driver_get_version, 1);
    take(library, "gdr_copy_to_mapping", &gdr.copy_to_mapping, 1);
    take(library, "gdr_copy_from_mapping", &gdr.copy_from_mapping, 1);
}

/* The session, or the end: a program that NCCL would leave without gdrcopy has failed here. */
static gdr_t start(void) {
    gdr_t const g = gdr.open();
    if (!g)
        fail("gdr_open gave NULL");
    int library_major = 0, library_minor = 0, driver_major = 0, driver_minor = 0;
    gdr.runtime_get_version(&library_major, &library_minor);
    REQUIRE_0(gdr.driver_get_version(g, &driver_major, &driver_minor));
    if (library_major < 2 || (library_major == 2 && library_minor < 1) || driver_major < 2 ||
        (driver_major == 2 && driver_minor < 1))
        fail("library %d.%d, driver %d.%d: below 2.1", library_major, library_minor, driver_major,
             driver_minor);
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

/* info.va, from the struct of the generation in use; what lies behind that struct stays as it is.
 */
static uint64_t info_va(gdr_t g, gdr_mh_t handle, size_t least) {
    struct {
        union {
            struct info_v1 old;
            struct info_v2 new;
            unsigned char bytes[48];
        } info;
        unsigned char canary[64];
    } place;
    memset(&place, 0xa5, sizeof place);
    if (gdr.get_info_v2)
        REQUIRE_0(gdr.get_info_v2(g, handle, &place.info));
    else
        REQUIRE_0(gdr.get_info(g, handle, &place.info));
    size_t const size = gdr.get_info_v2 ? sizeof(struct info_v2) : sizeof(struct info_v1);
    for (size_t i = size; i < sizeof place; ++i)
        if (((unsigned char*)&place)[i] != 0xa5)
            fail("gdr_get_info wrote to byte %zu of a struct of %zu", i, size);
    REQUIRE(place.info.old.mapped_size >= least);
    REQUIRE(place.info.old.page_size == GPU_PAGE);
    REQUIRE(place.info.old.mapped == 1);
    if (gdr.get_info_v2)
        REQUIRE(place.info.new.mapping_type >= 1 && place.info.new.mapping_type <= 3);
    return place.info.old.va;
}

static struct buffer allocate(struct cuda_driver const* cuda, gdr_t g, size_t size,
                              uint32_t flags) {
    struct buffer made;
    made.map_size = next_page(size);
    require_cuda(cuda->mem_alloc(&made.block, made.map_size + GPU_PAGE - 1), "cuMemAlloc");
    require_cuda(cuda->set_bytes(made.block, 0, made.map_size + GPU_PAGE - 1), "cuMemsetD8");
    require_cuda(cuda->synchronize(), "cuCtxSynchronize");
    uint64_t const aligned = next_page(made.block);
    int major = 0, minor = 0;
    gdr.runtime_get_version(&major, &minor);
    if (gdr.pin_buffer_v2 && (major > 2 || minor >= 5))
        REQUIRE_0(gdr.pin_buffer_v2(g, aligned, made.map_size, flags, &made.handle));
    else
        REQUIRE_0(gdr.pin_buffer(g, aligned, made.map_size, 0, 0, &made.handle));
    made.map = NULL;
    REQUIRE_0(gdr.map(g, made.handle, &made.map, made.map_size));
    int64_t const offset = (int64_t)(info_va(g, made.handle, made.map_size) - aligned);
    made.bytes = (unsigned char*)made.map + offset;
    made.gpu = aligned + (uint64_t)offset;
    return made;
}

static void free_buffer(struct cuda_driver const* cuda, gdr_t g, struct buffer buffer) {
    REQUIRE_0(gdr.unmap(g, buffer.handle, buffer.map, buffer.map_size));
    REQUIRE_0(gdr.unpin_buffer(g, buffer.handle));
    require_cuda(cuda->mem_free(buffer.block), "cuMemFree");
}

/* A proxy's step counter: one 8-byte word, stored to plainly, and flushed by a load. */
static void use_as_counter(struct cuda_driver const* cuda, struct buffer buffer) {
    uint64_t volatile* const word = (uint64_t volatile*)buffer.bytes;
    REQUIRE(word[0] == 0 && word[1] == 0);
    for (uint64_t step = 1; step <= 100; ++step) {
        word[0] = step * 0x0101010101010101u;
        store_fence();
        uint64_t seen = 0;
        require_cuda(cuda->to_host(&seen, buffer.gpu, sizeof seen), "cuMemcpyDtoH");
        REQUIRE(seen == step * 0x0101010101010101u);
        seen = ~seen;
        require_cuda(cuda->to_device(buffer.gpu + 8, &seen, sizeof seen), "cuMemcpyHtoD");
        require_cuda(cuda->synchronize(), "cuCtxSynchronize");
        load_fence();
        REQUIRE(word[1] == seen);
    }
}

/* The work fifo: plain stores of whole entries, and copies by the library. */
static void use_as_fifo(struct cuda_driver const* cuda, struct buffer buffer, size_t size) {
    unsigned char* const pattern = some_bytes(size);
    fill_pattern(pattern, size, 7);
    REQUIRE_0(gdr.copy_to_mapping(buffer.handle, buffer.bytes, pattern, size));
    require_gpu_pattern(cuda, buffer.gpu, size, 7, "after gdr_copy_to_mapping");
    fill_pattern(pattern, size, 8);
    for (size_t i = 0; i + 8 <= size; i += 8)
        memcpy(buffer.bytes + i, pattern + i, 8);
    store_fence();
    require_gpu_pattern(cuda, buffer.gpu, size & ~(size_t)7, 8, "after plain stores");
    upload_pattern(cuda, buffer.gpu, size, 9);
    memset(pattern, 0, size);
    REQUIRE_0(gdr.copy_from_mapping(buffer.handle, pattern, buffer.bytes, size));
    require_pattern(pattern, size, 9, "after gdr_copy_from_mapping");
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
