/* SPDX-License-Identifier: MIT */
/*
 * The C interface of libgdrapi 2.6, served by barmap: the names, constants, types and layouts that
 * programs written for gdrcopy are built with.  docs/gdrcopy.md says what is the same and what is
 * better here.
 *
 * Every function that returns int gives 0, or a positive errno value.  Unlike the original, all of
 * them may be called from any thread at once, on one handle too, with one exception: as there, what
 * unmaps (gdr_unmap, gdr_unpin_buffer, gdr_close) must not run while another thread copies through
 * that mapping.  Handles that are not (or no longer) valid are answered with EINVAL.  A child made by
 * fork() has no handles: it may only gdr_close().  Signal handlers may call gdr_copy_to_mapping and
 * gdr_copy_from_mapping, and nothing else.
 *
 * Environment: GDRCOPY_ENABLE_LOGGING (set: log to stderr), GDRCOPY_LOG_LEVEL (1 debug, 2 info,
 * 3 warnings, 4 errors; default 4), GDRCOPY_USE_DMABUF_MMAP=1 (use no backend but dmabuf), and all
 * BARMAP_ variables.
 */
#ifndef __GDRAPI_H__
#define __GDRAPI_H__

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define MAJOR_VERSION_SHIFT 16
#define MINOR_VERSION_MASK (((uint32_t)1 << MAJOR_VERSION_SHIFT) - 1)

#define GDR_API_MAJOR_VERSION 2
#define GDR_API_MINOR_VERSION 6
#define GDR_API_VERSION ((GDR_API_MAJOR_VERSION << MAJOR_VERSION_SHIFT) | GDR_API_MINOR_VERSION)

#define MINIMUM_GDRDRV_MAJOR_VERSION 2
#define MINIMUM_GDRDRV_MINOR_VERSION 0
#define MINIMUM_GDRDRV_VERSION                                                                     \
    ((MINIMUM_GDRDRV_MAJOR_VERSION << MAJOR_VERSION_SHIFT) | MINIMUM_GDRDRV_MINOR_VERSION)

/* A pinned range is made of whole GPU pages of this size, in bytes. */
#define GPU_PAGE_SHIFT 16
#define GPU_PAGE_SIZE (1UL << GPU_PAGE_SHIFT)
#define GPU_PAGE_OFFSET (GPU_PAGE_SIZE - 1)
#define GPU_PAGE_MASK (~GPU_PAGE_OFFSET)

#ifdef __cplusplus
extern "C" {
#endif

struct gdr;
typedef struct gdr* gdr_t;

/* Names one pinned range.  0 is never a valid one. */
typedef struct gdr_mh_s {
    unsigned long h;
} gdr_mh_t;

/*
 * Opens the library.  NULL where no GPU's memory can be reached; silent unless logging is on.
 * Needs no CUDA context and makes none.  Before cuInit it looks only whether gdrdrv, or the CUDA driver
 * and a GPU, are there, and does not call cuInit, so that children forked later may use CUDA; whether a
 * backend reaches the memory is then found by the first pin.  After cuInit the GPU of the calling
 * thread's context, if it has one, is opened and self-tested, which takes some milliseconds and may
 * wait for running kernels.  No two calls give the same pointer.
 */
gdr_t gdr_open(void);

/* Unmaps and unpins all that was pinned through g, then closes it.  EINVAL: g is not open. */
int gdr_close(gdr_t g);

typedef enum gdr_pin_flags {
    GDR_PIN_FLAG_DEFAULT = 0,
    GDR_PIN_FLAG_FORCE_PCIE = 1 /* through BAR1, not a coherent link; EINVAL without one */
} gdr_pin_flags_t;

/*
 * Pins the GPU pages that [addr, addr + size) touches.  Any address and size: the range need not
 * be aligned, and may span adjacent VMM chunks.  p2p_token and va_space are handed to a
 * gdrdrv older than 2.5, and otherwise ignored.
 * EINVAL: an address that CUDA does not know, a size of 0, a null pointer.  ENOTSUP: memory that no
 * backend can map (the log names its kind, and what to do).  ENOMEM: too little BAR1 or memory.
 */
int gdr_pin_buffer(gdr_t g, unsigned long addr, size_t size, uint64_t p2p_token, uint32_t va_space,
                   gdr_mh_t* handle);
/* The same with gdr_pin_flags_t.  EINVAL for flags that are unknown or cannot be met. */
int gdr_pin_buffer_v2(gdr_t g, unsigned long addr, size_t size, uint32_t flags, gdr_mh_t* handle);

/* Unpins, after unmapping what is still mapped.  The handle is invalid from then on. */
int gdr_unpin_buffer(gdr_t g, gdr_mh_t handle);

/*
 * 1 if the GPU driver has taken the memory away, which only gdrdrv in callback mode lets it do; 0
 * otherwise: the memory stays until it is unpinned.
 */
int gdr_get_callback_flag(gdr_t g, gdr_mh_t handle, int* flag);

typedef enum gdr_mapping_type {
    GDR_MAPPING_TYPE_NONE = 0,
    GDR_MAPPING_TYPE_WC = 1,
    GDR_MAPPING_TYPE_CACHING = 2,
    GDR_MAPPING_TYPE_DEVICE = 3,
    GDR_MAPPING_TYPE_MAX
} gdr_mapping_type_t;

typedef struct gdr_info_v2 {
    uint64_t va;          /* GPU address at which the mapping starts: the one that was pinned */
    uint64_t mapped_size; /* bytes from there to the end of the last GPU page */
    uint32_t page_size;   /* bytes, GPU_PAGE_SIZE */
    uint64_t tm_cycles;   /* always 0 here */
    uint32_t cycles_per_ms; /* always 0 here */
    unsigned mapped : 1;
    unsigned wc_mapping : 1;
    gdr_mapping_type_t mapping_type; /* NONE while it is not mapped */
} gdr_info_v2_t;
typedef gdr_info_v2_t gdr_info_t;

/*
 * Tells where a pin starts, how long it is, and whether and how it is mapped.
 * The library also has a gdr_get_info of its own, for programs built before 2.4; it fills a struct
 * of 40 bytes, without mapping_type.
 */
int gdr_get_info_v2(gdr_t g, gdr_mh_t handle, gdr_info_v2_t* info);
#define gdr_get_info gdr_get_info_v2

typedef enum gdr_map_flags {
    GDR_MAP_FLAG_DEFAULT = 0,
    GDR_MAP_FLAG_REQ_WC_MAPPING = 1,
    GDR_MAP_FLAG_REQ_CACHE_MAPPING = 2,
    GDR_MAP_FLAG_REQ_DEVICE_MAPPING = 3
} gdr_map_flags_t;

/*
 * Makes CPU addresses for the pinned pages.  *va is that of info.va, which is the address that was
 * pinned, aligned or not; so it is right with `*va + (addr - info.va)` and without.  All pages are
 * mapped, whatever the size.
 * EAGAIN: it is mapped already.  EINVAL: a size of 0 or beyond mapped_size.
 */
int gdr_map(gdr_t g, gdr_mh_t handle, void** va, size_t size);
/* The same with gdr_map_flags_t.  EINVAL or ENOTSUP: the backend cannot map in that way. */
int gdr_map_v2(gdr_t g, gdr_mh_t handle, void** va, size_t size, int flags);

/*
 * Unmaps; no copy through the handle may be in flight.  va may also be info.va, as some programs
 * have it.  EINVAL: it is not mapped, va is neither, or size is 0 or beyond mapped_size.
 */
int gdr_unmap(gdr_t g, gdr_mh_t handle, void* va, size_t size);

/*
 * Copy between CPU memory and a mapping; map_d_ptr is any address in it.  docs/ordering.md has
 * their promises to the GPU: a copy to the mapping has left the CPU when the call returns, and a copy
 * from it never gives a value older than one that this thread has read there before.  An aligned 1,
 * 2, 4 or 8-byte copy is one transaction.
 * A size of 0 does nothing, not even a fence.
 * EINVAL: the handle is not mapped, or the range leaves its mapping, or h_ptr is NULL.
 */
int gdr_copy_to_mapping(gdr_mh_t handle, void* map_d_ptr, const void* h_ptr, size_t size);
int gdr_copy_from_mapping(gdr_mh_t handle, void* h_ptr, const void* map_d_ptr, size_t size);

/* The interface that this library serves: 2.6. */
void gdr_runtime_get_version(int* major, int* minor);

/* gdrdrv's version where its module is used, else the interface's own. */
int gdr_driver_get_version(gdr_t g, int* major, int* minor);

typedef enum gdr_attr {
    GDR_ATTR_USE_PERSISTENT_MAPPING = 1,      /* 1: mappings outlive cudaFree */
    GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE = 2, /* 1: the flag is known */
    GDR_ATTR_USING_DMA_BUF_MMAP = 3,          /* 1: gdrdrv is not used */
    GDR_ATTR_MAX
} gdr_attr_t;

/* *v: the value of the attribute.  EINVAL for an unknown one. */
int gdr_get_attribute(gdr_t g, gdr_attr_t attr, int* v);

/* *pstr: a static English name.  EINVAL for an unknown type. */
int gdr_get_mapping_type_string(gdr_mapping_type_t mapping_type, const char** pstr);

/*
 * Not of gdrcopy: before a checkpoint of CUDA, and after it; docs/checkpoint.md.  Every gdr_t, handle
 * and address stays what it is.  In between calls return EIO, and an access to a mapping ends the
 * process.  prepare waits at most that many nanoseconds for copies of other threads.
 * EIO: some are still in flight.  EINVAL: something cannot come back; the log says what.
 */
int gdr_barmap_checkpoint_prepare(unsigned long long at_most_ns);
int gdr_barmap_checkpoint_restore(void);

#ifdef __cplusplus
}
#endif

#endif /* __GDRAPI_H__ */
