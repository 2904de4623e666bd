/* SPDX-License-Identifier: MIT */
/*
 * The part of the CUDA driver API that the programs of this room call, loaded at run time from
 * whatever libcuda.so.1 the process finds: NVIDIA's or the simulated one. C11 and C++20.
 *
 * What goes wrong here ends the program: with 1, or with 77 (skipped) where there is no driver or
 * no GPU.
 */
#ifndef BARMAP_DROPIN_CUDA_DRIVER_H
#define BARMAP_DROPIN_CUDA_DRIVER_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    exit_failed = 1,
    exit_skipped = 77,
    cuda_error_no_device = 100,
    cuda_attribute_sync_memops = 6,
    cuda_device_host_page_tables = 100, /* set: coherent with the CPU */
    cuda_posix_fd_handle = 1,
    cuda_read_write = 3
};

struct cuda_location {
    int type; /* 1: a device */
    int id;
};

struct cuda_allocation_properties {
    int type; /* 1: pinned */
    int handle_types;
    struct cuda_location location;
    void* win32_data;
    unsigned char flags[8];
};

struct cuda_access {
    struct cuda_location location;
    int flags;
};

struct cuda_driver {
    int (*init)(unsigned);
    int (*device_get)(int*, int);
    int (*device_attribute)(int*, int, int);
    int (*primary_retain)(void**, int);
    int (*primary_release)(int);
    int (*primary_state)(int, unsigned*, int*);
    int (*set_current)(void*);
    int (*get_current)(void**);
    int (*synchronize)(void);
    int (*mem_alloc)(uint64_t*, size_t);
    int (*mem_free)(uint64_t);
    int (*mem_alloc_managed)(uint64_t*, size_t, unsigned);
    int (*mem_host_alloc)(void**, size_t, unsigned);
    int (*mem_free_host)(void*);
    int (*to_device)(uint64_t, void const*, size_t);
    int (*to_host)(void*, uint64_t, size_t);
    int (*set_bytes)(uint64_t, unsigned char, size_t);
    int (*set_attribute)(void const*, int, uint64_t);
    int (*reserve)(uint64_t*, size_t, size_t, uint64_t, unsigned long long);
    int (*unreserve)(uint64_t, size_t);
    int (*create)(unsigned long long*, size_t, struct cuda_allocation_properties const*,
                  unsigned long long);
    int (*map)(uint64_t, size_t, size_t, unsigned long long, unsigned long long);
    int (*unmap)(uint64_t, size_t);
    int (*release)(unsigned long long);
    int (*set_access)(uint64_t, size_t, struct cuda_access const*, size_t);
    int (*granularity)(size_t*, struct cuda_allocation_properties const*, int);
    int device;
    void* context;
};

/* The symbol as a function pointer; ISO C has no cast for this. */
static inline void take_symbol(void* library, char const* name, void* function) {
    void* const symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
}

static inline void require_cuda(int result, char const* what) {
    if (result != 0) {
        printf("%s answered CUresult %d\n", what, result);
        exit(exit_failed);
    }
}

#define BARMAP_CUDA_TAKE(member, name)                                                             \
    do {                                                                                           \
        take_symbol(library, name, &cuda.member);                                                  \
        if (!cuda.member) {                                                                        \
            printf("libcuda.so.1 has no %s\n", name);                                              \
            exit(exit_failed);                                                                     \
        }                                                                                          \
    } while (0)

/* Loads the driver, and makes no context. Ends the program with 77 where there is no GPU. */
static inline struct cuda_driver load_cuda(void) {
    struct cuda_driver cuda;
    memset(&cuda, 0, sizeof cuda);
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        printf("skipped: %s\n", dlerror());
        exit(exit_skipped);
    }
    BARMAP_CUDA_TAKE(init, "cuInit");
    BARMAP_CUDA_TAKE(device_get, "cuDeviceGet");
    BARMAP_CUDA_TAKE(device_attribute, "cuDeviceGetAttribute");
    BARMAP_CUDA_TAKE(primary_retain, "cuDevicePrimaryCtxRetain");
    BARMAP_CUDA_TAKE(primary_release, "cuDevicePrimaryCtxRelease_v2");
    BARMAP_CUDA_TAKE(primary_state, "cuDevicePrimaryCtxGetState");
    BARMAP_CUDA_TAKE(set_current, "cuCtxSetCurrent");
    BARMAP_CUDA_TAKE(get_current, "cuCtxGetCurrent");
    BARMAP_CUDA_TAKE(synchronize, "cuCtxSynchronize");
    BARMAP_CUDA_TAKE(mem_alloc, "cuMemAlloc_v2");
    BARMAP_CUDA_TAKE(mem_free, "cuMemFree_v2");
    BARMAP_CUDA_TAKE(mem_alloc_managed, "cuMemAllocManaged");
    BARMAP_CUDA_TAKE(mem_host_alloc, "cuMemHostAlloc");
    BARMAP_CUDA_TAKE(mem_free_host, "cuMemFreeHost");
    BARMAP_CUDA_TAKE(to_device, "cuMemcpyHtoD_v2");
    BARMAP_CUDA_TAKE(to_host, "cuMemcpyDtoH_v2");
    BARMAP_CUDA_TAKE(set_bytes, "cuMemsetD8_v2");
    BARMAP_CUDA_TAKE(set_attribute, "cuPointerSetAttribute");
    BARMAP_CUDA_TAKE(reserve, "cuMemAddressReserve");
    BARMAP_CUDA_TAKE(unreserve, "cuMemAddressFree");
    BARMAP_CUDA_TAKE(create, "cuMemCreate");
    BARMAP_CUDA_TAKE(map, "cuMemMap");
    BARMAP_CUDA_TAKE(unmap, "cuMemUnmap");
    BARMAP_CUDA_TAKE(release, "cuMemRelease");
    BARMAP_CUDA_TAKE(set_access, "cuMemSetAccess");
    BARMAP_CUDA_TAKE(granularity, "cuMemGetAllocationGranularity");
    int const result = cuda.init(0);
    if (result == cuda_error_no_device) {
        printf("skipped: no GPU\n");
        exit(exit_skipped);
    }
    require_cuda(result, "cuInit");
    return cuda;
}

/* Also makes the primary context of a device current, as a program of the CUDA runtime has it. */
static inline struct cuda_driver start_cuda(int ordinal) {
    struct cuda_driver cuda = load_cuda();
    require_cuda(cuda.device_get(&cuda.device, ordinal), "cuDeviceGet");
    require_cuda(cuda.primary_retain(&cuda.context, cuda.device), "cuDevicePrimaryCtxRetain");
    require_cuda(cuda.set_current(cuda.context), "cuCtxSetCurrent");
    return cuda;
}

/* Whether the CPU reaches the GPU's memory through a coherent link, too. */
static inline int is_coherent(struct cuda_driver const* cuda) {
    int set = 0;
    return cuda->device_attribute(&set, cuda_device_host_page_tables, cuda->device) == 0 && set;
}

#endif /* BARMAP_DROPIN_CUDA_DRIVER_H */
