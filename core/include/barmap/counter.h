// SPDX-License-Identifier: MIT
/// Counters between a CPU, running GPU code and CUDA streams, for C and languages that call C: each
/// side polls its own memory.
///
///     barmap_counter_to_gpu *inputs;
///     if (barmap_counter_to_gpu_create(words, 0, NULL, &inputs) ||
///         barmap_counter_to_gpu_stream_wait(inputs, stream, 17)) // later work starts when it is 17
///         return fprintf(stderr, "%s\n", barmap_error_message()), 1;
///     barmap_mapping_write(map, 0, values, sizeof values);
///     barmap_counter_to_gpu_advance(inputs, 17);
///
/// Kernels use <barmap/gpu/counter.cuh>. The rules are in share/doc/barmap/rings.md and
/// ordering.md.
///
/// Errors: as in <barmap/barmap.h>, for functions that make a handle or a descriptor, or take a
/// stream. The others cannot fail, and check nothing: NULL is the caller's error. They take no
/// lock, allocate nothing and make no system call; only those that wait read the clock.
///
/// Ownership: free a handle when no kernel and no stream uses it any more. Counters keep the memory
/// of their arena, so you may free the handles in any order.
///
/// Threads: one at a time advances a counter, and calls barmap_counter_to_gpu_value(). Threads may
/// call all else at once. Freeing a handle is exclusive.
///
/// fork(): a child may only free the handles, and open its own by a descriptor.
#ifndef BARMAP_COUNTER_H
#define BARMAP_COUNTER_H

#include <barmap/arena.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barmap_counter_to_gpu barmap_counter_to_gpu; ///< a number that only grows
typedef struct barmap_counter_to_cpu barmap_counter_to_cpu;

// Arguments for kernels, passed by value: GPU addresses and numbers. Their layouts never change.
// Each is valid as long as the counter that it belongs to.

/// barmap::gpu::counter_to_gpu.
typedef struct barmap_counter_to_gpu_handle {
    uint64_t word; ///< its GPU address
} barmap_counter_to_gpu_handle;

/// barmap::gpu::counter_to_cpu.
typedef struct barmap_counter_to_cpu_handle {
    uint64_t value, arrived; ///< GPU addresses
    uint64_t first;          ///< initial number
} barmap_counter_to_cpu_handle;

/// Makes a number that the CPU advances, and GPU code and streams wait for. Any thread.
/// @param arena  provides the GPU memory
/// @param first  initial number
/// @param handle set to the kernel's argument, its barmap::gpu::counter_to_gpu; may be NULL. A
///               failure leaves it unchanged
/// @param out    free it with barmap_counter_to_gpu_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_OUT_OF_RANGE if the arena has no room;
///         BARMAP_ERROR_FORKED_CHILD
///
///     barmap_counter_to_gpu_create(words, 0, NULL, &inputs);
BARMAP_API int barmap_counter_to_gpu_create(barmap_arena* arena, uint64_t first,
                                            barmap_counter_to_gpu_handle* handle,
                                            barmap_counter_to_gpu** out);
/// Lets another process advance the counter, instead of this one: makes a descriptor with which a
/// process without CUDA can open it. This handle continues to hold the memory, and
/// barmap_counter_to_gpu_stream_wait() continues to work. The descriptor gives access to the whole
/// arena. Any thread.
/// @param descriptor set to a close-on-exec descriptor, which the caller closes; -1 on failure
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; or as barmap_pin_share()
///
///     barmap_counter_to_gpu_share(inputs, &descriptor);
BARMAP_API int barmap_counter_to_gpu_share(barmap_counter_to_gpu const* counter, int* descriptor);

/// Opens a counter that a process has shared, at the number that was set last. Needs no CUDA. One
/// process at a time advances it: the next one opens it when the last one has ended or was killed.
/// Any thread.
/// @param descriptor remains the caller's, and can be opened any number of times
/// @param out        free it with barmap_counter_to_gpu_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for another descriptor; or as barmap_pin_open_shared()
///
///     barmap_counter_to_gpu_open_shared(received_descriptor, &inputs);
BARMAP_API int barmap_counter_to_gpu_open_shared(int descriptor, barmap_counter_to_gpu** out);
/// Frees the counter. NULL: does nothing.
///
///     barmap_counter_to_gpu_destroy(inputs);
BARMAP_API void barmap_counter_to_gpu_destroy(barmap_counter_to_gpu* counter);

/// Sets the number, at once, after all that this thread has written through mappings of this GPU
/// and to host memory. The number must not decrease. One thread at a time.
///
///     barmap_mapping_write(map, 0, values, sizeof values);
///     barmap_counter_to_gpu_advance(inputs, 17);
BARMAP_API void barmap_counter_to_gpu_advance(barmap_counter_to_gpu* counter, uint64_t to);

/// The number, as it was set last. Do not call it while another thread advances the counter.
///
///     barmap_counter_to_gpu_advance(inputs, barmap_counter_to_gpu_value(inputs) + 1);
BARMAP_API uint64_t barmap_counter_to_gpu_value(barmap_counter_to_gpu const* counter);

/// Makes later work of a stream wait until the number is at least this. If this is captured into a
/// graph, each replay waits for the same number: call it before each launch instead. Any thread.
/// @param stream a CUstream or cudaStream_t; NULL: the default stream
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_UNSUPPORTED_OPERATION if the driver lacks
///         such waits, or another process made the counter; or BARMAP_ERROR_CUDA
///
///     barmap_counter_to_gpu_stream_wait(inputs, stream, 17);
BARMAP_API int barmap_counter_to_gpu_stream_wait(barmap_counter_to_gpu const* counter, void* stream,
                                                 uint64_t at_least);

/// Makes a number that GPU code or a stream advances, and the CPU waits for. As
/// barmap_counter_to_gpu_create(); it also takes host memory.
/// @param handle set to the kernel's argument, its barmap::gpu::counter_to_cpu; may be NULL
/// @param out    free it with barmap_counter_to_cpu_destroy()
///
///     barmap_counter_to_cpu_create(words, 0, &handle, &done);
BARMAP_API int barmap_counter_to_cpu_create(barmap_arena* arena, uint64_t first,
                                            barmap_counter_to_cpu_handle* handle,
                                            barmap_counter_to_cpu** out);
/// Lets other processes wait as well. As barmap_counter_to_gpu_share().
///
///     barmap_counter_to_cpu_share(done, &descriptor);
BARMAP_API int barmap_counter_to_cpu_share(barmap_counter_to_cpu const* counter, int* descriptor);

/// Opens a counter that a process has shared; any number of processes may. As
/// barmap_counter_to_gpu_open_shared().
///
///     barmap_counter_to_cpu_open_shared(received_descriptor, &done);
BARMAP_API int barmap_counter_to_cpu_open_shared(int descriptor, barmap_counter_to_cpu** out);
/// Frees the counter. NULL: does nothing.
///
///     barmap_counter_to_cpu_destroy(done);
BARMAP_API void barmap_counter_to_cpu_destroy(barmap_counter_to_cpu* counter);

/// The number now. This thread then sees what was stored before the number was advanced.
///
///     uint64_t const steps = barmap_counter_to_cpu_value(done);
BARMAP_API uint64_t barmap_counter_to_cpu_value(barmap_counter_to_cpu const* counter);

/// Polls until the number is at least this, without giving up the CPU.
/// @return 1 if it was reached within that many nanoseconds, else 0
///
///     if (!barmap_counter_to_cpu_wait(done, 17, 5000000)) ...
BARMAP_API int barmap_counter_to_cpu_wait(barmap_counter_to_cpu const* counter, uint64_t at_least,
                                          uint64_t nanoseconds);

/// Makes a stream set the number when all of its earlier work is complete. If this is captured into
/// a graph, each replay sets the same number: call it after each launch instead. Otherwise as
/// barmap_counter_to_gpu_stream_wait().
///
///     barmap_counter_to_cpu_record(done, stream, 17);
BARMAP_API int barmap_counter_to_cpu_record(barmap_counter_to_cpu const* counter, void* stream,
                                            uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
