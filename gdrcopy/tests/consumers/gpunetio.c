/* SPDX-License-Identifier: MIT */
/*
 * As DOCA GPUNetIO, vendored in NCCL's GIN and in UCX, uses libgdrapi: the versioned name, one
 * session for the life of the process, 64 KiB-aligned pointers whose mapping starts exactly there,
 * and pages of other people's memory (for signals) that are mapped twice, plainly and, on a
 * coherent GPU, through PCIe.
 */
#include "loaded_library.h"

#include <errno.h>

static gdr_t session;

static void start(void) {
    void* const library =
        load_library("libgdrapi.so.2", RTLD_NOW,
                     "open close pin_buffer unpin_buffer map unmap copy_from_mapping "
                     "copy_to_mapping runtime_get_version driver_get_version");
    take_functions(library, "pin_buffer_v2 get_attribute");
    session = open_session();
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
    free(bytes);
    exchange_bytes(cuda, handle, host, aligned, size, seed + 1);
    unmap_and_unpin(session, handle, host, size);
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
    uint64_t const value = 0x1122334455667788u;
    for (unsigned i = 0; i < 1u + (unsigned)through_pcie; ++i)
        exchange_word(cuda, (char*)hosts[i] + (address - page), address, value + i);
    unmap_and_unpin(session, plain, plain_host, GPU_PAGE);
    if (through_pcie) { /* it does not depend on the first one */
        exchange_word(cuda, (char*)pcie_host + (address - page), address, value);
        unmap_and_unpin(session, by_pcie, pcie_host, GPU_PAGE);
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
