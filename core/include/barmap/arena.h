// SPDX-License-Identifier: MIT
/// Memory that rings and counters share, for C and languages that call C.
#ifndef BARMAP_ARENA_H
#define BARMAP_ARENA_H

#include <barmap/barmap.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barmap_arena barmap_arena; ///< memory that rings and counters share

/// Allocates a block of GPU memory with its mapping, and a block of pinned host memory, from which
/// many rings and counters allocate parts. Any thread, also for the functions that allocate from
/// it.
/// @param gpu_bytes  size of the GPU memory; 0 for none. A counter takes 128 bytes of it, and one
///                   to the CPU also 128 of host memory; a ring takes 128 of each, and its slots in
///                   multiples of 128
/// @param host_bytes size of the host memory; 0 for none
/// @param out        free it with barmap_arena_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; or as barmap_pin_allocate() and
///         barmap_mapping_create()
///
///     barmap_arena *words;
///     if (barmap_arena_create(gpu, 1 << 20, 1 << 16, &words) != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_arena_create(barmap_device* device, size_t gpu_bytes, size_t host_bytes,
                                   barmap_arena** out);

/// Frees the handle. The memory lives as long as rings and counters in it; when the last one goes,
/// CUDA frees it, which waits for running kernels. NULL: does nothing.
///
///     barmap_arena_destroy(words);
BARMAP_API void barmap_arena_destroy(barmap_arena* arena);

#ifdef __cplusplus
}
#endif

#endif
