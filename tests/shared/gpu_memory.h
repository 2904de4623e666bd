/* SPDX-License-Identifier: MIT */
/*
 * GPU memory whose bytes are known, and what the CPU and the driver see of it. C11 and C++20.
 * A wrong byte ends the program with 1, after a line that says which.
 */
#ifndef BARMAP_DROPIN_GPU_MEMORY_H
#define BARMAP_DROPIN_GPU_MEMORY_H

#include "shared/cuda_driver.h"

#include <stdarg.h>

#define GPU_PAGE ((uint64_t)65536)

static inline uint64_t page_of(uint64_t address) {
    return address & ~(GPU_PAGE - 1);
}

static inline uint64_t next_page(uint64_t address) {
    return page_of(address + GPU_PAGE - 1);
}

__attribute__((format(printf, 1, 2), noreturn)) static inline void fail(char const* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    exit(exit_failed);
}

/* Stops with a message unless the call answers 0. */
#define REQUIRE_0(call)                                                                            \
    do {                                                                                           \
        int const answer_ = (call);                                                                \
        if (answer_ != 0)                                                                          \
            fail("%s:%d: %s answered %d (%s)", __FILE__, __LINE__, #call, answer_,                 \
                 strerror(answer_));                                                               \
    } while (0)

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail("%s:%d: not so: %s", __FILE__, __LINE__, #condition);                             \
    } while (0)

/* The byte at an offset of the pattern of a seed: never 0, and another one for other seeds. */
static inline unsigned char pattern_byte(unsigned seed, size_t offset) {
    uint32_t const mixed = (uint32_t)(offset * 2654435761u) ^ (seed * 40503u + 12345u);
    return (unsigned char)((mixed >> 13 ^ mixed >> 24 ^ mixed) | 1u << (seed & 7u));
}

static inline void fill_pattern(void* to, size_t size, unsigned seed) {
    unsigned char* const bytes = (unsigned char*)to;
    for (size_t i = 0; i < size; ++i)
        bytes[i] = pattern_byte(seed, i);
}

static inline void require_pattern(void const* from, size_t size, unsigned seed, char const* what) {
    unsigned char const* const bytes = (unsigned char const*)from;
    for (size_t i = 0; i < size; ++i)
        if (bytes[i] != pattern_byte(seed, i))
            fail("%s: byte %zu of %zu is 0x%02x and should be 0x%02x", what, i, size, bytes[i],
                 pattern_byte(seed, i));
}

static inline void* some_bytes(size_t size) {
    void* const bytes = malloc(size ? size : 1);
    if (!bytes)
        fail("no memory for %zu bytes", size);
    return bytes;
}

/* A pattern reaches the GPU by the driver, and has arrived. */
static inline void upload_pattern(struct cuda_driver const* cuda, uint64_t address, size_t size,
                                  unsigned seed) {
    void* const bytes = some_bytes(size);
    fill_pattern(bytes, size, seed);
    require_cuda(cuda->to_device(address, bytes, size), "cuMemcpyHtoD");
    require_cuda(cuda->synchronize(), "cuCtxSynchronize");
    free(bytes);
}

/* What the driver reads is the pattern. */
static inline void require_gpu_pattern(struct cuda_driver const* cuda, uint64_t address,
                                       size_t size, unsigned seed, char const* what) {
    void* const bytes = some_bytes(size);
    require_cuda(cuda->to_host(bytes, address, size), "cuMemcpyDtoH");
    require_pattern(bytes, size, seed, what);
    free(bytes);
}

/* An allocation that holds the pattern of its seed. */
struct gpu_block {
    uint64_t address;
    size_t size;
    unsigned seed;
};

static inline struct gpu_block allocate_block(struct cuda_driver const* cuda, size_t size,
                                              unsigned seed) {
    struct gpu_block block;
    block.size = size;
    block.seed = seed;
    require_cuda(cuda->mem_alloc(&block.address, size), "cuMemAlloc");
    upload_pattern(cuda, block.address, size, seed);
    return block;
}

/* Nobody has written to it since. */
static inline void require_untouched(struct cuda_driver const* cuda, struct gpu_block block) {
    require_gpu_pattern(cuda, block.address, block.size, block.seed, "a neighbouring allocation");
}

static inline void free_block(struct cuda_driver const* cuda, struct gpu_block block) {
    require_cuda(cuda->mem_free(block.address), "cuMemFree");
}

/* Several small allocations, among which CUDA puts those that come in between. */
enum { neighbour_count = 6 };
struct neighbours {
    struct gpu_block blocks[neighbour_count];
    unsigned made;
};

/* Makes the next one; its sizes differ, so that what follows is not aligned to much. */
static inline void make_neighbour(struct cuda_driver const* cuda, struct neighbours* all) {
    static size_t const sizes[neighbour_count] = {24, 1000, 512, 5000, 1, 40000};
    REQUIRE(all->made < neighbour_count);
    all->blocks[all->made] = allocate_block(cuda, sizes[all->made], 200 + all->made);
    ++all->made;
}

static inline void require_neighbours_untouched(struct cuda_driver const* cuda,
                                                struct neighbours const* all) {
    for (unsigned i = 0; i < all->made; ++i)
        require_untouched(cuda, all->blocks[i]);
}

static inline void free_neighbours(struct cuda_driver const* cuda, struct neighbours* all) {
    for (unsigned i = 0; i < all->made; ++i)
        free_block(cuda, all->blocks[i]);
    all->made = 0;
}

/* VMM chunks of equal size side by side, with a POSIX-fd handle type. */
struct gpu_chunks {
    uint64_t address;
    size_t chunk_size;
    unsigned count;
};

static inline struct gpu_chunks make_chunks(struct cuda_driver const* cuda, unsigned count) {
    struct cuda_allocation_properties properties;
    memset(&properties, 0, sizeof properties);
    properties.type = 1;
    properties.handle_types = cuda_posix_fd_handle;
    properties.location.type = 1;
    properties.location.id = cuda->device;
    properties.flags[1] = 1; /* gpuDirectRDMACapable */
    struct gpu_chunks chunks;
    chunks.count = count;
    require_cuda(cuda->granularity(&chunks.chunk_size, &properties, 0), "granularity");
    size_t const size = chunks.chunk_size * count;
    require_cuda(cuda->reserve(&chunks.address, size, 0, 0, 0), "cuMemAddressReserve");
    for (unsigned i = 0; i < count; ++i) {
        unsigned long long handle = 0;
        require_cuda(cuda->create(&handle, chunks.chunk_size, &properties, 0), "cuMemCreate");
        require_cuda(
            cuda->map(chunks.address + i * chunks.chunk_size, chunks.chunk_size, 0, handle, 0),
            "cuMemMap");
        require_cuda(cuda->release(handle), "cuMemRelease");
    }
    struct cuda_access access;
    access.location = properties.location;
    access.flags = cuda_read_write;
    require_cuda(cuda->set_access(chunks.address, size, &access, 1), "cuMemSetAccess");
    return chunks;
}

static inline void free_chunks(struct cuda_driver const* cuda, struct gpu_chunks chunks) {
    size_t const size = chunks.chunk_size * chunks.count;
    require_cuda(cuda->unmap(chunks.address, size), "cuMemUnmap");
    require_cuda(cuda->unreserve(chunks.address, size), "cuMemAddressFree");
}

/* What a program that stores to GPU memory itself does afterwards. */
static inline void store_fence(void) {
#if defined(__x86_64__)
    __asm__ volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
    __asm__ volatile("dmb st" ::: "memory");
#else
    __sync_synchronize();
#endif
}

/* What it does before it loads. */
static inline void load_fence(void) {
#if defined(__x86_64__)
    __asm__ volatile("mfence" ::: "memory");
#else
    __sync_synchronize();
#endif
}

#endif /* BARMAP_DROPIN_GPU_MEMORY_H */
