/* SPDX-License-Identifier: MIT */
/*
 * The C interface of libvkgdr, served by barmap: GPU memory that the CPU reads and writes through a
 * pointer.  docs/vkgdr.md says what is the same as in the original and what is better here.
 *
 * Every function may be called from any thread at once, on one handle too.  Memory must not be in use
 * when it is freed, as with free().  For a handle that is NULL or was released the result is NULL, 0
 * or false, and an error text; vkgdr_close and vkgdr_memory_free ignore NULL.
 */
#ifndef VKGDR_H
#define VKGDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* cuda.h where it is installed and VKGDR_NO_CUDA_H is not defined; otherwise the two names of it that
 * are needed here. */
#if defined(__has_include) && !defined(VKGDR_NO_CUDA_H)
#if __has_include(<cuda.h>)
#include <cuda.h>
#define VKGDR_HAS_CUDA_H 1
#endif
#endif
#ifndef VKGDR_HAS_CUDA_H
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define VKGDR_API __attribute__((visibility("default")))

typedef struct vkgdr* vkgdr_t;
typedef struct vkgdr_memory* vkgdr_memory_t;

typedef enum vkgdr_open_flags {
    /* Use the GPU of the calling thread's CUDA context, and ignore `device`. */
    VKGDR_OPEN_CURRENT_CONTEXT_BIT = 1,
    /*
     * For finding missing alignment: memory counts as non-coherent, and each flush and invalidate
     * is checked against the rules of real non-coherent memory.
     */
    VKGDR_OPEN_FORCE_NON_COHERENT_BIT = 2,
    /* Fail unless the memory is coherent. */
    VKGDR_OPEN_REQUIRE_COHERENT_BIT = 4,
    VKGDR_OPEN_REQUIRE_COHERENT = VKGDR_OPEN_REQUIRE_COHERENT_BIT /* as vkgdr's documents call it */
} vkgdr_open_flags;

/*
 * The error of this thread's last vkgdr_open or vkgdr_memory_alloc, or, since then, of a call that
 * was given a bad handle or a range that breaks the rules; NULL if there was none.  The caller
 * frees it with free().
 */
VKGDR_API char* vkgdr_last_error(void);

/* Opens a GPU.  flags: of vkgdr_open_flags, no other bits.  NULL on failure. */
VKGDR_API vkgdr_t vkgdr_open(CUdevice device, uint32_t flags);

/* Closes the handle.  Memory that was allocated through it may still be used and freed. */
VKGDR_API void vkgdr_close(vkgdr_t g);

/*
 * Allocates size bytes, more than 0.  A context of the opened GPU must be current.  flags must be 0.
 * NULL on failure.
 */
VKGDR_API vkgdr_memory_t vkgdr_memory_alloc(vkgdr_t g, size_t size, uint32_t flags);

/* Frees it, in whatever context is current, also after vkgdr_close.  NULL is ignored. */
VKGDR_API void vkgdr_memory_free(vkgdr_memory_t mem);

VKGDR_API void* vkgdr_memory_get_host_ptr(vkgdr_memory_t mem);         /* CPU address */
VKGDR_API CUdeviceptr vkgdr_memory_get_device_ptr(vkgdr_memory_t mem); /* GPU address */
VKGDR_API size_t vkgdr_memory_get_size(vkgdr_memory_t mem);            /* bytes, as asked for */
VKGDR_API bool vkgdr_memory_is_coherent(vkgdr_memory_t mem);
/* Alignment of flushed and invalidated ranges, in bytes; 1 for coherent memory. */
VKGDR_API size_t vkgdr_memory_non_coherent_atom_size(vkgdr_memory_t mem);

/*
 * Makes what the CPU wrote in [offset, offset + size) visible to GPU work that is launched later, and
 * lets it leave the CPU for work that runs already.  On coherent memory any range will do.  On
 * non-coherent memory the range must not leave the memory, offset must be a multiple of the atom
 * size, and so must size, unless the range ends where the memory ends; a size of SIZE_MAX means up to
 * there.  A range that breaks this is reported by vkgdr_last_error(), the first one on stderr as well,
 * and nothing else happens.
 */
VKGDR_API void vkgdr_memory_flush(vkgdr_memory_t mem, size_t offset, size_t size);

/* Makes what finished GPU work wrote there visible to the CPU.  The rules are those of flush. */
VKGDR_API void vkgdr_memory_invalidate(vkgdr_memory_t mem, size_t offset, size_t size);

/*
 * Not of vkgdr: before a checkpoint of CUDA, and after it; docs/checkpoint.md.  Handles and addresses
 * stay what they are.  In between calls that need the GPU fail, and an access to the memory ends the
 * process.  prepare waits that many nanoseconds for calls of other threads.  After false,
 * vkgdr_last_error() says why.  Memory that Vulkan allocated cannot come back:
 * BARMAP_BACKEND=rm avoids it.
 */
VKGDR_API bool vkgdr_barmap_checkpoint_prepare(uint64_t at_most_ns);
VKGDR_API bool vkgdr_barmap_checkpoint_restore(void);

#ifdef __cplusplus
}
#endif

#endif /* VKGDR_H */
