// SPDX-License-Identifier: MIT
/// Rings between a CPU and running GPU code, for C and languages that call C. They need no driver
/// call and no synchronisation: each side polls its own memory, and all that crosses the link is a
/// posted write.
///
///     typedef struct command { uint64_t what; double value; } command;
///     barmap_ring_to_gpu *commands;
///     barmap_ring_handle handle;
///     command const next = {17, 0.5};
///     if (barmap_ring_to_gpu_create(gpu, NULL, sizeof next, 1024, &handle, &commands))
///         return fprintf(stderr, "%s\n", barmap_error_message()), 1;
///     void *arguments[] = {&handle}; // of serve(barmap::gpu::ring_to_gpu<command>)
///     cuLaunchKernel(serve, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
///     if (barmap_ring_to_gpu_push(commands, &next, 1) == 1)
///         barmap_ring_to_gpu_flush(commands);
///     barmap_ring_to_gpu_close(commands); // no message follows: the kernel ends
///     cuStreamSynchronize(stream);
///     barmap_ring_to_gpu_destroy(commands);
///
/// Kernels use <barmap/gpu/ring.cuh>, with a type of the size that is given here.
/// The rules are in share/doc/barmap/rings.md and ordering.md.
///
/// Words: `create` and `destroy` make and free a handle and its memory. `close` declares that no
/// message follows, or that none will be read any more; it frees nothing.
///
/// Errors: as in <barmap/barmap.h>, for functions that make a handle or a descriptor.
/// The others cannot fail, and check nothing: NULL is the caller's error. They take no lock,
/// allocate nothing and make no system call; only those that wait read the clock.
///
/// Ownership: free a handle when no kernel uses it any more. Rings keep the memory of their arena,
/// so you may free the handles in any order.
///
/// Threads: one at a time pushes to a ring, or pops from it; the functions that wait for a ring, or
/// return its state, belong to that thread as well. Threads may call all else at once. Freeing a
/// handle is exclusive.
///
/// fork(): a child may only free the handles, and open its own by a descriptor.
#ifndef BARMAP_RING_H
#define BARMAP_RING_H

#include <barmap/arena.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barmap_ring_to_gpu barmap_ring_to_gpu; ///< messages, in order
typedef struct barmap_ring_to_cpu barmap_ring_to_cpu;

// The argument for kernels, passed by value: GPU addresses and numbers. Its layout never changes. It
// is valid as long as the ring that it belongs to.

/// barmap::gpu::ring_to_gpu<T> or ring_to_cpu<T>.
typedef struct barmap_ring_handle {
    uint64_t slots, control, credits; ///< GPU addresses
    uint64_t mask;                    ///< number of slots less 1
} barmap_ring_handle;

/// How many messages a ring holds, and whether its other side has closed it.
typedef struct barmap_ring_state {
    /// To the GPU: messages that were pushed, and for which the consumer has not yet returned
    /// credits, which it does for a quarter of the slots at a time. To the CPU: messages that have
    /// arrived and were not read.
    uint64_t depth;
    /// 1 if the kernel's side has called its close(): it reads no more, or no message follows; else
    /// 0.
    uint64_t closed;
} barmap_ring_state;

/// Makes a ring for messages from the CPU to GPU code. Any thread.
/// @param device        allocates memory for this ring only; NULL with an arena
/// @param arena         provides the memory; NULL with a device
/// @param message_bytes size of a message, 1 to 2^20; 56 fill a line of GPU memory
/// @param slots         how many messages it holds, a power of two, up to 2^32
/// @param handle        set to the kernel's argument, its barmap::gpu::ring_to_gpu<T>; may be NULL.
///                      A failure leaves it unchanged
/// @param out           free it with barmap_ring_to_gpu_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT, also for both a device and an arena, or neither;
///         BARMAP_ERROR_OUT_OF_RANGE if the arena has no room; BARMAP_ERROR_FORKED_CHILD; or, with
///         a device, as barmap_arena_create()
///
///     barmap_ring_to_gpu_create(NULL, words, sizeof(command), 1024, &handle, &commands);
BARMAP_API int barmap_ring_to_gpu_create(barmap_device* device, barmap_arena* arena,
                                         size_t message_bytes, size_t slots,
                                         barmap_ring_handle* handle, barmap_ring_to_gpu** out);
/// Lets another process push, instead of this one: makes a descriptor with which a process without
/// CUDA can open the ring. Messages that were pushed arrive. From now on this handle only holds the
/// memory; use it for barmap_ring_to_gpu_close() and barmap_ring_to_gpu_destroy() alone. The
/// descriptor gives access to the whole arena, so give the ring a separate one. Do not call it
/// while another thread pushes.
/// @param descriptor set to a close-on-exec descriptor, which the caller closes; -1 on failure
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; or as barmap_pin_share()
///
///     barmap_ring_to_gpu_share(commands, &descriptor); // and send it by SCM_RIGHTS
BARMAP_API int barmap_ring_to_gpu_share(barmap_ring_to_gpu* ring, int* descriptor);

/// Opens a ring that a process has shared. Pushing continues behind the last whole message. Neither
/// needs nor starts CUDA; the kernels belong to the process that made the ring. One process at a
/// time pushes: the next one opens the ring when the last one has ended or was killed. Any thread.
/// @param descriptor    remains the caller's, and can be opened any number of times
/// @param message_bytes size of a message, as when the ring was made
/// @param out           free it with barmap_ring_to_gpu_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT if barmap_ring_to_gpu_share() did not make the
///         descriptor, or for another size; or as barmap_pin_open_shared()
///
///     barmap_ring_to_gpu_open_shared(received_descriptor, sizeof(command), &commands);
BARMAP_API int barmap_ring_to_gpu_open_shared(int descriptor, size_t message_bytes,
                                              barmap_ring_to_gpu** out);
/// Frees the ring without closing it: its consumer learns nothing. NULL: does nothing.
///
///     barmap_ring_to_gpu_destroy(commands);
BARMAP_API void barmap_ring_to_gpu_destroy(barmap_ring_to_gpu* ring);

/// Writes as many messages as there is room for, in order. They arrive at the latest with
/// barmap_ring_to_gpu_flush() or barmap_ring_to_gpu_close().
/// @param messages `count` of them, one after another, with any alignment; not read if count is 0
/// @return how many were written, 0 if the ring is full
///
///     sent += barmap_ring_to_gpu_push(commands, list + sent, count - sent);
BARMAP_API size_t barmap_ring_to_gpu_push(barmap_ring_to_gpu* ring, void const* messages,
                                          size_t count);

/// Makes all messages arrive without waiting for more.
///
///     barmap_ring_to_gpu_flush(commands);
BARMAP_API void barmap_ring_to_gpu_flush(barmap_ring_to_gpu* ring);

/// Polls for room for a message, without giving up the CPU. Flush first: only a consumer that has
/// received messages makes room.
/// @param nanoseconds how long; 0: polls once
/// @return 1 if there is room; 0 if the time is over, or the consumer has closed the ring
///
///     while (barmap_ring_to_gpu_push(commands, &next, 1) == 0)
///         if (!barmap_ring_to_gpu_wait(commands, 5000000)) // 5 ms
///             return TOO_SLOW;
BARMAP_API int barmap_ring_to_gpu_wait(barmap_ring_to_gpu* ring, uint64_t nanoseconds);

/// How many messages the ring holds, and whether the consumer has closed it.
///
///     barmap_ring_state state;
///     barmap_ring_to_gpu_state(commands, &state);
///     printf("%llu in flight\n", (unsigned long long)state.depth);
BARMAP_API void barmap_ring_to_gpu_state(barmap_ring_to_gpu const* ring, barmap_ring_state* out);

/// Declares that no message follows, and flushes. The consumer reads the messages before, and then
/// gets `closed`. Frees nothing.
///
///     barmap_ring_to_gpu_close(commands);
BARMAP_API void barmap_ring_to_gpu_close(barmap_ring_to_gpu* ring);

/// Makes a ring for messages from GPU code to the CPU. As barmap_ring_to_gpu_create(), but slots
/// take host memory: 16 bytes for messages of up to 8, otherwise a multiple of 64.
/// @param handle set to the kernel's argument, its barmap::gpu::ring_to_cpu<T>; may be NULL
/// @param out    free it with barmap_ring_to_cpu_destroy()
///
///     barmap_ring_to_cpu_create(gpu, NULL, sizeof(answer), 1024, &handle, &answers);
BARMAP_API int barmap_ring_to_cpu_create(barmap_device* device, barmap_arena* arena,
                                         size_t message_bytes, size_t slots,
                                         barmap_ring_handle* handle, barmap_ring_to_cpu** out);
/// Lets another process pop, instead of this one. As barmap_ring_to_gpu_share().
///
///     barmap_ring_to_cpu_share(answers, &descriptor);
BARMAP_API int barmap_ring_to_cpu_share(barmap_ring_to_cpu* ring, int* descriptor);

/// As barmap_ring_to_gpu_open_shared(). Reading continues where the last consumer ended; if that
/// one was killed, up to a quarter of the slots may be read a second time.
///
///     barmap_ring_to_cpu_open_shared(received_descriptor, sizeof(answer), &answers);
BARMAP_API int barmap_ring_to_cpu_open_shared(int descriptor, size_t message_bytes,
                                              barmap_ring_to_cpu** out);
/// Frees the ring without closing it: its producers learn nothing. NULL: does nothing.
///
///     barmap_ring_to_cpu_destroy(answers);
BARMAP_API void barmap_ring_to_cpu_destroy(barmap_ring_to_cpu* ring);

/// Reads as many messages as have arrived and fit, in order.
/// @param messages room for `count`, one after another, with any alignment
/// @return how many were read; the memory behind them is unchanged
///
///     size_t const got = barmap_ring_to_cpu_pop(answers, list, 16);
BARMAP_API size_t barmap_ring_to_cpu_pop(barmap_ring_to_cpu* ring, void* messages, size_t count);

/// Polls for a message, without giving up the CPU.
/// @param nanoseconds how long; 0: polls once
/// @return 1 if there is one; 0 if the time is over, or the producers have closed the ring and all
///         messages were read
///
///     if (barmap_ring_to_cpu_wait(answers, 5000000) && barmap_ring_to_cpu_pop(answers, &next, 1))
///     ...
BARMAP_API int barmap_ring_to_cpu_wait(barmap_ring_to_cpu const* ring, uint64_t nanoseconds);

/// How many messages the ring holds, and whether a producer has closed it. Messages from before may
/// be left.
///
///     barmap_ring_to_cpu_state(answers, &state);
///     if (state.closed && state.depth == 0) ...
BARMAP_API void barmap_ring_to_cpu_state(barmap_ring_to_cpu const* ring, barmap_ring_state* out);

/// Declares that no message will be read any more: producers that find the ring full get `closed`.
/// Frees nothing.
///
///     barmap_ring_to_cpu_close(answers);
BARMAP_API void barmap_ring_to_cpu_close(barmap_ring_to_cpu* ring);

#ifdef __cplusplus
}
#endif

#endif
