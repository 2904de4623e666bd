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
/// @param backend    of the GPU memory, as for barmap_pin_allocate(). If you share parts with other
///                   processes: "rm", on the simulated GPU "dmabuf", since barmap may choose one
///                   that cannot share
/// @param out        free it with barmap_arena_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_SYSTEM or _CUDA also if no more host
///         memory may be locked (ulimit -l), or no descriptor is left: the host memory takes one;
///         or as barmap_pin_allocate() and barmap_mapping_create()
///
///     barmap_arena *words;
///     if (barmap_arena_create(gpu, 1 << 20, 1 << 16, NULL, &words) != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_arena_create(barmap_device* device, size_t gpu_bytes, size_t host_bytes,
                                   char const* backend, barmap_arena** out);

/// One more use of a handle: it then takes one more barmap_arena_destroy() to free it. Any thread.
/// @return the handle
///
///     barmap_arena *mine = barmap_arena_retain(words);
BARMAP_API barmap_arena* barmap_arena_retain(barmap_arena* arena);

/// Ends one use of the handle, and frees it with the last. The memory lives as long as rings and
/// counters in it; when the last one is freed, CUDA frees the memory, which waits for running
/// kernels. NULL: does nothing.
///
///     barmap_arena_destroy(words);
BARMAP_API void barmap_arena_destroy(barmap_arena* arena);

/// The GPU whose memory it is; NULL if another process made the arena, and this one opened a ring
/// or a counter of it by a descriptor. The arena keeps the handle: do not destroy it. Any thread.
///
///     puts(barmap_device_name(barmap_arena_device(words)));
BARMAP_API barmap_device* barmap_arena_device(barmap_arena const* arena);

/// How the CPU caches its GPU memory: a value of enum barmap_cache_kind. Any thread.
///
///     bool needs_a_flush = barmap_arena_kind(words) == BARMAP_WRITE_COMBINING;
BARMAP_API int barmap_arena_kind(barmap_arena const* arena);

typedef struct barmap_arena_part barmap_arena_part; ///< bytes of an arena

/// The two blocks of an arena.
enum barmap_arena_block {
    BARMAP_OF_GPU = 0, ///< GPU memory
    BARMAP_OF_HOST = 1 ///< pinned host memory
};

/// Takes a part of an arena, at a multiple of 128 bytes, with what its last user left there. An
/// arena of another process hands out the parts of the ring or counter that was opened, in their
/// order. Any thread.
/// @param block a value of enum barmap_arena_block
/// @param bytes greater than 0
/// @param out   release it with barmap_arena_part_destroy(); the memory stays allocated as long
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT, also for 0 bytes; BARMAP_ERROR_OUT_OF_RANGE if no part
///         of that size is left; BARMAP_ERROR_CHECKPOINTED; BARMAP_ERROR_FORKED_CHILD
///
///     barmap_arena_take(words, BARMAP_OF_GPU, 64, &part);
BARMAP_API int barmap_arena_take(barmap_arena* arena, int block, size_t bytes,
                                 barmap_arena_part** out);

/// Where a part lies. The structure never changes.
typedef struct barmap_part_place {
    void* data;           ///< CPU address
    size_t size;          ///< bytes, as requested
    uint64_t gpu_address; ///< for kernels; 0 in an arena of another process
    void const* plan;     ///< as barmap_window::plan; NULL: host memory
} barmap_part_place;

/// Where a part lies. Any thread.
///
///     barmap_part_place at;
///     barmap_arena_part_place(part, &at);
BARMAP_API void barmap_arena_part_place(barmap_arena_part const* part, barmap_part_place* place);

/// 1, or 0 in a forked child of the process that took it, which may only destroy it. Any thread.
///
///     if (barmap_arena_part_is_own(part))
///         memset(at.data, 0, at.size);
BARMAP_API int barmap_arena_part_is_own(barmap_arena_part const* part);

/// Stores a word of GPU memory at once, after all that this thread has stored and loaded before,
/// unless the process is prepared for a checkpoint.
/// @param index of the word of 8 bytes in the part. @pre it lies inside
/// @return 0; BARMAP_ERROR_CHECKPOINTED
///
///     barmap_arena_part_publish(part, 0, 17);
BARMAP_API int barmap_arena_part_publish(barmap_arena_part const* part, size_t index,
                                         uint64_t value);

/// Makes later work of a stream wait until the part's first word of 8 bytes is at least a number.
/// Any thread.
/// @param stream a CUstream or cudaStream_t of this GPU; NULL: the default stream
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_UNSUPPORTED_OPERATION if the driver lacks
///         such waits, or another process made the arena; or BARMAP_ERROR_CUDA
///
///     barmap_arena_part_stream_wait(part, stream, 17);
BARMAP_API int barmap_arena_part_stream_wait(barmap_arena_part const* part, void* stream,
                                             uint64_t at_least);

/// Makes a stream store the part's first word when all of its earlier work is complete. Otherwise
/// as barmap_arena_part_stream_wait().
///
///     barmap_arena_part_stream_write(part, stream, 17);
BARMAP_API int barmap_arena_part_stream_write(barmap_arena_part const* part, void* stream,
                                              uint64_t value);

/// Returns a part to its arena. No kernel, copy or other thread may use it any more. NULL: does
/// nothing.
///
///     barmap_arena_part_destroy(part);
BARMAP_API void barmap_arena_part_destroy(barmap_arena_part* part);

/// Kinds of signals that processes share.
enum barmap_signal_kind {
    BARMAP_RING_TO_GPU = 1, ///< two parts of GPU memory, and one of host memory
    BARMAP_RING_TO_CPU = 2, ///< one of GPU memory, two of host memory
    BARMAP_COUNTER_TO_GPU = 3, ///< one of GPU memory
    BARMAP_COUNTER_TO_CPU = 4 ///< one of each
};

/// A ring or a counter, as its descriptor describes it. The structure never changes.
typedef struct barmap_signal {
    uint64_t kind; ///< a value of enum barmap_signal_kind
    uint64_t message_bytes;
    uint64_t slots; ///< like message_bytes, of a ring; else 0
    uint64_t first; ///< of a counter to the CPU; else 0
} barmap_signal;

/// Makes a descriptor of a ring or a counter, for languages that have their own. The functions of
/// <barmap/ring.h> and <barmap/counter.h> call it. Any thread.
/// @param parts      all of its parts, of one arena, in the order in which the other process takes
///                   them
/// @param descriptor set to a close-on-exec descriptor, which the caller closes; -1 on failure
/// @return 0; or as barmap_pin_share()
///
///     barmap_signal_share(&what, parts, 3, &descriptor);
BARMAP_API int barmap_signal_share(barmap_signal const* what, barmap_arena_part const* const* parts,
                                   size_t count, int* descriptor);

/// Opens a descriptor. Any thread.
/// @param kind what the caller expects, a value of enum barmap_signal_kind
/// @param what set to what the descriptor says
/// @param out  an arena, from which barmap_arena_take() takes the same parts, with their contents;
///             free it with barmap_arena_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for a descriptor of another kind; or as
///         barmap_pin_open_shared()
///
///     barmap_signal_open_shared(descriptor, BARMAP_RING_TO_GPU, &what, &memory);
BARMAP_API int barmap_signal_open_shared(int descriptor, int kind, barmap_signal* what,
                                         barmap_arena** out);

#ifdef __cplusplus
}
#endif

#endif
