// SPDX-License-Identifier: MIT
/// Pinned host memory, which the copy engines of every GPU reach.
///
///     barmap_host_buffer *results;
///     if (barmap_host_buffer_create(gpu, 1 << 20, &results) != BARMAP_OK)
///         return fprintf(stderr, "%s\n", barmap_error_message()), 1;
///
/// Errors: as in <barmap/barmap.h>. Threads: any, at any time, but the last call on a buffer is
/// barmap_host_buffer_destroy(). fork(): a child shares the bytes, and may only destroy the buffer;
/// where CUDA cannot register memory, CUDA allocates it, and a child has none.
#ifndef BARMAP_HOST_BUFFER_H
#define BARMAP_HOST_BUFFER_H

#include <barmap/barmap.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barmap_host_buffer barmap_host_buffer; ///< pinned host memory

/// Allocates host memory that the GPU reaches: pinned, zeroed, from a page boundary on. Batches
/// need such memory, and barmap_mapping_copy_to_gpu() and _to_cpu() are fastest with it. All GPUs
/// reach it. Any thread.
/// @param bytes greater than 0
/// @param out   free it with barmap_host_buffer_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for 0 bytes; BARMAP_ERROR_SYSTEM or _CUDA if the system
///         lets this process pin no more; BARMAP_ERROR_FORKED_CHILD
///
///     barmap_host_buffer *results;
///     if (barmap_host_buffer_create(gpu, 1 << 20, &results) != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_host_buffer_create(barmap_device* device, size_t bytes,
                                         barmap_host_buffer** out);

/// The CPU address of the first byte. Valid until barmap_host_buffer_destroy(). Any thread.
///
///     memset(barmap_host_buffer_data(results), 0, barmap_host_buffer_size(results));
BARMAP_API void* barmap_host_buffer_data(barmap_host_buffer const* buffer);

/// The size in bytes, as requested. Any thread.
///
///     assert(barmap_host_buffer_size(results) == 1 << 20);
BARMAP_API size_t barmap_host_buffer_size(barmap_host_buffer const* buffer);

/// The address of the first byte for kernels. Any thread.
///
///     launch_kernel((void *)barmap_host_buffer_gpu_address(results));
BARMAP_API uint64_t barmap_host_buffer_gpu_address(barmap_host_buffer const* buffer);

/// Frees the memory, which may wait for running kernels. Do not call it while a copy, a batch or a
/// kernel uses the memory. NULL: does nothing.
///
///     barmap_host_buffer_destroy(results);
BARMAP_API void barmap_host_buffer_destroy(barmap_host_buffer* buffer);

#ifdef __cplusplus
}
#endif

#endif
