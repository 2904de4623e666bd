/* SPDX-License-Identifier: MIT */
/*
 * As DPDK's gpudev driver for CUDA uses libgdrapi, for rte_gpu_mem_cpu_map: $GDRCOPY_PATH_L in
 * front of the unversioned name, five symbols, the session opened at the first mapping and never
 * closed. The pointer that gdr_map gives is taken for that of the address that was pinned, without
 * a look at info.va; and gdr_unmap is given the GPU's address instead of it, which the original
 * answers with 0.
 */
#include <gdrapi.h>

#include "loaded_library.h"

static gdr_t session;

static void load(void) {
    char path[1024];
    char const* const folder = getenv("GDRCOPY_PATH_L");
    int const length = folder ? snprintf(path, sizeof path, "%s/libgdrapi.so", folder)
                              : snprintf(path, sizeof path, "libgdrapi.so");
    REQUIRE(length > 0 && (size_t)length < sizeof path);
    load_library(path, RTLD_LAZY, "open pin_buffer unpin_buffer map unmap");
}

struct cpu_map {
    uint64_t block, gpu;
    size_t size;
    gdr_mh_t handle;
    void* cpu;
};

/* cpu: NULL if the library refuses to map it. */
static struct cpu_map map_for_cpu(struct cuda_driver const* cuda, size_t size, uint64_t alignment) {
    if (!session) {
        load();
        session = open_session();
    }
    struct cpu_map made;
    made.size = size;
    require_cuda(cuda->mem_alloc(&made.block, size + alignment), "cuMemAlloc");
    made.gpu = (made.block + alignment - 1) / alignment * alignment;
    unsigned const sync_memops = 1;
    require_cuda(cuda->set_attribute(&sync_memops, cuda_attribute_sync_memops, made.gpu),
                 "cuPointerSetAttribute");
    REQUIRE_0(gdr.pin_buffer(session, made.gpu, size, 0, 0, &made.handle));
    if (gdr.map(session, made.handle, &made.cpu, size) != 0) {
        REQUIRE_0(gdr.unpin_buffer(session, made.handle));
        made.cpu = NULL;
    }
    return made;
}

static void unmap_for_cpu(struct cuda_driver const* cuda, struct cpu_map what) {
    if (what.cpu) {
        unmap_and_unpin(session, what.handle, (void*)(uintptr_t)what.gpu, what.size);
    }
    require_cuda(cuda->mem_free(what.block), "cuMemFree");
}

/* A list of packets: entries are written by the CPU alone, a status word comes last. */
static void hand_over_packets(struct cuda_driver const* cuda, struct cpu_map map) {
    struct entry {
        uint64_t address, size;
    };
    struct entry volatile* const list = map.cpu;
    size_t const count = map.size / sizeof *list - 1;
    for (size_t i = 0; i < count; ++i) {
        list[i].address = 0x7000000000u + i * 2048;
        list[i].size = i % 1500;
    }
    store_fence();
    list[count].address = count;
    store_fence();
    struct entry* const seen = some_bytes(map.size);
    require_cuda(cuda->to_host(seen, map.gpu, map.size), "cuMemcpyDtoH");
    for (size_t i = 0; i < count; ++i)
        REQUIRE(seen[i].address == 0x7000000000u + i * 2048 && seen[i].size == i % 1500);
    REQUIRE(seen[count].address == count);
    free(seen);
    uint64_t const done = 0x646f6e65;
    require_cuda(cuda->to_device(map.gpu, &done, sizeof done), "cuMemcpyHtoD");
    require_cuda(cuda->synchronize(), "cuCtxSynchronize");
    load_fence();
    REQUIRE(list[0].address == done);
}

/* Aligned to less than a GPU page, as dpdk-test-gpudev has it: refused, or the right bytes. */
static void map_less_aligned(struct cuda_driver const* cuda) {
    struct neighbours around = {.made = 0};
    make_neighbour(cuda, &around);
    make_neighbour(cuda, &around);
    struct cpu_map const map = map_for_cpu(cuda, 1024, 4096);
    make_neighbour(cuda, &around);
    if (map.cpu)
        hand_over_packets(cuda, map);
    require_neighbours_untouched(cuda, &around);
    unmap_for_cpu(cuda, map);
    free_neighbours(cuda, &around);
}

int main(void) {
    struct cuda_driver const cuda = start_cuda(0);
    struct neighbours around = {.made = 0};
    make_neighbour(&cuda, &around);
    struct cpu_map const flags = map_for_cpu(&cuda, 4096, GPU_PAGE);
    make_neighbour(&cuda, &around);
    struct cpu_map const list = map_for_cpu(&cuda, 1 << 20, GPU_PAGE);
    make_neighbour(&cuda, &around);
    REQUIRE(flags.cpu && list.cpu);
    hand_over_packets(&cuda, flags);
    hand_over_packets(&cuda, list);
    unmap_for_cpu(&cuda, list);
    hand_over_packets(&cuda, flags);
    unmap_for_cpu(&cuda, flags);
    require_neighbours_untouched(&cuda, &around);
    free_neighbours(&cuda, &around);
    map_less_aligned(&cuda);
    printf("dpdk: ok\n");
    return 0;
}
