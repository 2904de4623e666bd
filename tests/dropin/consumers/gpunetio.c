/* SPDX-License-Identifier: MIT */
/*
 * As DOCA GPUNetIO, vendored in NCCL's GIN and in UCX, uses libgdrapi: the versioned name, one
 * session for the life of the process, 64 KiB-aligned pointers whose mapping starts exactly there,
 * and pages of other people's memory (for signals) that are mapped twice, plainly and, on a coherent GPU, through PCIe.
 */
#include "gpu_memory.h"

#include <dlfcn.h>
#include <errno.h>

typedef struct gdr* gdr_t;
typedef struct {
    unsigned long h;
} gdr_mh_t;

static struct {
    gdr_t (*open)(void);
    int (*close)(gdr_t);
    int (*pin_buffer)(gdr_t, unsigned long, size_t, uint64_t, uint32_t, gdr_mh_t*);
    int (*pin_buffer_v2)(gdr_t, unsigned long, size_t, uint32_t, gdr_mh_t*);
    int (*unpin_buffer)(gdr_t, gdr_mh_t);
    int (*map)(gdr_t, gdr_mh_t, void**, size_t);
    int (*unmap)(gdr_t, gdr_mh_t, void*, size_t);
    int (*copy_from_mapping)(gdr_mh_t, void*, void const*, size_t);
    int (*copy_to_mapping)(gdr_mh_t, void*, void const*, size_t);
    int (*get_attribute)(gdr_t, int, int*);
    void (*runtime_get_version)(int*, int*);
    int (*driver_get_version)(gdr_t, int*, int*);
} gdr;
static gdr_t session;

static void require_symbol(void* library, char const* name, void* function) {
    take_symbol(library, name, function);
    void* found;
    memcpy(&found, function, sizeof found);
    if (!found)
        fail("libgdrapi.so.2 has no %s", name);
}

static void start(void) {
    void* const library = dlopen("libgdrapi.so.2", RTLD_NOW);
    if (!library)
        fail("%s", dlerror());
    require_symbol(library, "gdr_open", &gdr.open);
    require_symbol(library, "gdr_close", &gdr.close);
    require_symbol(library, "gdr_pin_buffer", &gdr.pin_buffer);
    take_symbol(library, "gdr_pin_buffer_v2", &gdr.pin_buffer_v2);
    require_symbol(library, "gdr_unpin_buffer", &gdr.unpin_buffer);
    require_symbol(library, "gdr_map", &gdr.map);
    require_symbol(library, "gdr_unmap", &gdr.unmap);
    require_symbol(library, "gdr_copy_from_mapping", &gdr.copy_from_mapping);
    require_symbol(library, "gdr_copy_to_mapping", &gdr.copy_to_mapping);
    take_symbol(library, "gdr_get_attribute", &gdr.get_attribute);
    require_symbol(library, "gdr_runtime_get_version", &gdr.runtime_get_version);
    require_symbol(library, "gdr_driver_get_version", &gdr.driver_get_version);
    session = gdr.open();
    if (!session)
        fail("gdr_open gave NULL");
}

static int forces_pcie(void) {
    int supported = 0;
    return gdr.get_attribute && gdr.pin_buffer_v2 &&
           gdr.get_attribute(session, 2, &supported) == 0 && supported;
}

/* The CPU's address for a page-aligned one of the GPU's, and an errno. */
static int create_mapping(uint64_t aligned, size_t size, int force_pcie, gdr_mh_t* handle,
                          void** host) {
    REQUIRE(page_of(aligned) == aligned);
    if (force_pcie && !forces_pcie())
        return ENOTSUP;
    int const pinned = force_pcie ? gdr.pin_buffer_v2(session, aligned, size, 1, handle)
                                  : gdr.pin_buffer(session, aligned, size, 0, 0, handle);
    if (pinned != 0)
        return pinned;
    int const mapped = gdr.map(session, *handle, host, size);
    if (mapped != 0)
        gdr.unpin_buffer(session, *handle);
    return mapped;
}

static void destroy_mapping(gdr_mh_t handle, void* host, size_t size) {
    REQUIRE_0(gdr.unmap(session, handle, host, size));
    REQUIRE_0(gdr.unpin_buffer(session, handle));
}

/* Queues and their records: memory of the library itself, any size, aligned by hand. */
static void map_own_memory(struct cuda_driver const* cuda, size_t size, unsigned seed) {
    uint64_t block = 0;
    require_cuda(cuda->mem_alloc(&block, size + GPU_PAGE), "cuMemAlloc");
    require_cuda(cuda->set_bytes(block, 0, size + GPU_PAGE), "cuMemsetD8");
    uint64_t const aligned = next_page(block);
    unsigned const sync_memops = 1;
    require_cuda(cuda->set_attribute(&sync_memops, cuda_attribute_sync_memops, aligned),
                 "cuPointerSetAttribute");
    gdr_mh_t handle = {0};
    void* host = NULL;
    REQUIRE_0(create_mapping(aligned, size, 0, &handle, &host));
    unsigned char* const bytes = some_bytes(size);
    fill_pattern(bytes, size, seed);
    memcpy(host, bytes, size);
    store_fence();
    require_gpu_pattern(cuda, aligned, size, seed, "after memcpy to the mapping");
    fill_pattern(bytes, size, seed + 1);
    REQUIRE_0(gdr.copy_to_mapping(handle, host, bytes, size));
    require_gpu_pattern(cuda, aligned, size, seed + 1, "after gdr_copy_to_mapping");
    upload_pattern(cuda, aligned, size, seed + 2);
    REQUIRE_0(gdr.copy_from_mapping(handle, bytes, host, size));
    require_pattern(bytes, size, seed + 2, "after gdr_copy_from_mapping");
    free(bytes);
    destroy_mapping(handle, host, size);
    require_cuda(cuda->mem_free(block), "cuMemFree");
}

/* A signal: 8 bytes anywhere in the user's memory. Its page is mapped, whoever else lies there. */
static void signal_in(struct cuda_driver const* cuda, uint64_t address) {
    uint64_t const page = page_of(address);
    gdr_mh_t plain = {0}, by_pcie = {0};
    void *plain_host = NULL, *pcie_host = NULL;
    REQUIRE_0(create_mapping(page, GPU_PAGE, 0, &plain, &plain_host));
    int const through_pcie = create_mapping(page, GPU_PAGE, 1, &by_pcie, &pcie_host) == 0;
    if (forces_pcie())
        REQUIRE(through_pcie == is_coherent(cuda));
    void* const hosts[] = {plain_host, pcie_host};
    for (int i = 0; i < 1 + through_pcie; ++i) {
        uint64_t volatile* const word =
            (uint64_t volatile*)((unsigned char*)hosts[i] + (address - page));
        uint64_t const value = 0x1122334455667788u + (uint64_t)i;
        *word = value;
        store_fence();
        uint64_t seen = 0;
        require_cuda(cuda->to_host(&seen, address, sizeof seen), "cuMemcpyDtoH");
        REQUIRE(seen == value);
        seen = 99;
        require_cuda(cuda->to_device(address, &seen, sizeof seen), "cuMemcpyHtoD");
        require_cuda(cuda->synchronize(), "cuCtxSynchronize");
        load_fence();
        REQUIRE(*word == 99);
    }
    destroy_mapping(plain, plain_host, GPU_PAGE);
    if (through_pcie) { /* it does not depend on the first one */
        uint64_t volatile* const word =
            (uint64_t volatile*)((unsigned char*)pcie_host + (address - page));
        load_fence();
        REQUIRE(*word == 99);
        destroy_mapping(by_pcie, pcie_host, GPU_PAGE);
    }
}

int main(void) {
    struct cuda_driver const cuda = start_cuda(0);
    start();
    struct neighbours around = {.made = 0};
    make_neighbour(&cuda, &around);
    struct gpu_block const mine = allocate_block(&cuda, 64, 40);
    make_neighbour(&cuda, &around);
    make_neighbour(&cuda, &around);
    signal_in(&cuda, mine.address + 8);
    signal_in(&cuda, mine.address + 56);
    require_neighbours_untouched(&cuda, &around);
    map_own_memory(&cuda, 65536, 1);
    map_own_memory(&cuda, 4096, 4);
    map_own_memory(&cuda, 3 * 65536 + 192, 7);
    map_own_memory(&cuda, 5 << 20, 10);
    struct gpu_chunks const window = make_chunks(&cuda, 2);
    signal_in(&cuda, window.address);
    signal_in(&cuda, window.address + 2 * window.chunk_size - 8);
    free_chunks(&cuda, window);
    free_block(&cuda, mine);
    require_neighbours_untouched(&cuda, &around);
    free_neighbours(&cuda, &around);
    printf("gpunetio: ok\n"); /* the session is never closed */
    return 0;
}
