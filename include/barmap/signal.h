// SPDX-License-Identifier: MIT
/// Rings and counters between a CPU and running GPU code, for C and languages that call C. No
/// driver call and no synchronisation: each side looks at memory of its own.
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
/// Kernels use <barmap/gpu/ring.cuh> and signal.cuh, with a type of the size that is given here.
/// The rules are in share/doc/barmap/rings.md and ordering.md.
///
/// Words: `create` and `destroy` are of a handle and its memory. `close` says that no message
/// follows, or that none is read any more; the ring remains to be destroyed.
///
/// Errors: as in <barmap/barmap.h>, for functions that make a handle and those that take a stream.
/// The others cannot fail, and check nothing: NULL is the caller's error. They take no lock,
/// allocate nothing and make no system call, but for the clock of those that wait.
///
/// Ownership: free what kernels and streams use when they no longer do. What was taken from an
/// arena keeps its memory, so that the handles may be freed in any order.
///
/// Threads: one at a time pushes to a ring, pops from one, and advances a counter; what looks at a
/// ring, or waits for it, belongs to that thread as well. All else may be called at once. Freeing a
/// handle is exclusive.
///
/// fork(): a child may only free the handles, and open its own by a descriptor.
#ifndef BARMAP_SIGNAL_H
#define BARMAP_SIGNAL_H

#include <barmap/barmap.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barmap_arena barmap_arena;             ///< memory that the others share
typedef struct barmap_ring_to_gpu barmap_ring_to_gpu; ///< messages, in order
typedef struct barmap_ring_to_cpu barmap_ring_to_cpu;
typedef struct barmap_counter_to_gpu barmap_counter_to_gpu; ///< a number that does not go back
typedef struct barmap_counter_to_cpu barmap_counter_to_cpu;

// What kernels take, by value: GPU addresses and numbers. The layouts never change. Each is valid as
// long as what it was made with.

/// barmap::gpu::ring_to_gpu<T> or ring_to_cpu<T>.
typedef struct barmap_ring_handle {
    uint64_t slots, control, credits; ///< GPU addresses
    uint64_t mask;                    ///< number of slots less 1
} barmap_ring_handle;

/// What is in a ring, and whether its other side goes on.
typedef struct barmap_ring_state {
    /// To the GPU: messages that were pushed, and for which the consumer has not yet given credit,
    /// as it does for a quarter of the slots at a time. To the CPU: those that have arrived and were
    /// not read.
    uint64_t depth;
    /// 1: the kernel's side has said, by its close(), that it reads no more, or that no message
    /// follows; else 0.
    uint64_t closed;
} barmap_ring_state;

/// barmap::gpu::counter_to_gpu.
typedef struct barmap_word_handle {
    uint64_t word; ///< its GPU address
} barmap_word_handle;

/// barmap::gpu::counter_to_cpu.
typedef struct barmap_counter_handle {
    uint64_t value, arrived; ///< GPU addresses
    uint64_t first;          ///< where the number begins
} barmap_counter_handle;

/// Allocates a block of GPU memory with its mapping, and one of pinned host memory, of which many
/// rings and counters take parts. Any thread; so may those that take from it.
/// @param gpu_bytes how much GPU memory; 0 for none. A counter takes 128 bytes of it, and
///        one to the CPU also of host memory; a ring 128 of each and its slots, in whole multiples
///        of 128
/// @param host_bytes how much host memory, likewise
/// @param out to be freed by barmap_arena_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; or as barmap_pin_allocate() and
/// barmap_mapping_create()
///
///     barmap_arena *words;
///     if (barmap_arena_create(gpu, 1 << 20, 1 << 16, &words) != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_arena_create(barmap_device* device, size_t gpu_bytes, size_t host_bytes,
                                   barmap_arena** out);

/// Frees the handle. The memory lives as long as what was taken of it; its end frees it with CUDA,
/// which waits for running kernels. NULL: nothing to do.
///
///     barmap_arena_destroy(words);
BARMAP_API void barmap_arena_destroy(barmap_arena* arena);

/// Makes a ring for messages of the CPU to GPU code. Any thread.
/// @param device        allocates memory for this ring only; NULL with an arena
/// @param arena         whose memory is taken; NULL with a device
/// @param message_bytes size of a message, 1 to 2^20; 56 fill a line of GPU memory
/// @param slots         how many messages it holds, a power of two, up to 2^32
/// @param handle        what a kernel takes as its barmap::gpu::ring_to_gpu<T>; NULL: not wanted.
///                      A failure leaves it unchanged
/// @param out           to be freed by barmap_ring_to_gpu_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT, also for both a device and an arena, or neither;
///         BARMAP_ERROR_OUT_OF_RANGE if the arena has no room; BARMAP_ERROR_FORKED_CHILD; or, with
///         a device, as barmap_arena_create()
///
///     barmap_ring_to_gpu_create(NULL, words, sizeof(command), 1024, &handle, &commands);
BARMAP_API int barmap_ring_to_gpu_create(barmap_device* device, barmap_arena* arena,
                                         size_t message_bytes, size_t slots,
                                         barmap_ring_handle* handle, barmap_ring_to_gpu** out);
/// Gives another process the pushing: makes a descriptor, by which one without CUDA opens the ring.
/// What was pushed arrives; from now on the ring is here to hold its memory, for
/// barmap_ring_to_gpu_close() and to be destroyed. The descriptor gives access to all of the
/// arena, so give the ring one of its own. As barmap_ring_to_gpu_push(), not beside it.
/// @param descriptor close-on-exec, and the caller's to close; -1 if this fails
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; or as barmap_share()
///
///     barmap_ring_to_gpu_share(commands, &descriptor); // and send it by SCM_RIGHTS
BARMAP_API int barmap_ring_to_gpu_share(barmap_ring_to_gpu* ring, int* descriptor);

/// Opens a ring that a process has shared, behind the last whole message that is there. Needs and starts
/// no CUDA. One process at a time pushes: the next one opens it when the last one has ended or was
/// killed. Any thread.
/// @param descriptor    remains the caller's, and can be opened any number of times
/// @param message_bytes size of a message, as when the ring was made
/// @param out           to be freed by barmap_ring_to_gpu_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT if barmap_ring_to_gpu_share() did not make it, or for
///         another size; or as barmap_open_shared()
///
///     barmap_ring_to_gpu_open_shared(received_descriptor, sizeof(command), &commands);
BARMAP_API int barmap_ring_to_gpu_open_shared(int descriptor, size_t message_bytes,
                                              barmap_ring_to_gpu** out);
/// Frees the ring, without a word to its consumer. NULL: nothing to do.
///
///     barmap_ring_to_gpu_destroy(commands);
BARMAP_API void barmap_ring_to_gpu_destroy(barmap_ring_to_gpu* ring);

/// Writes messages, as many as there is room for, in order. They arrive at the latest with
/// barmap_ring_to_gpu_flush().
/// @param messages `count` of them, one after another, of any alignment; not read if count is 0
/// @return how many were written, 0 if the ring is full
///
///     sent += barmap_ring_to_gpu_push(commands, list + sent, count - sent);
BARMAP_API size_t barmap_ring_to_gpu_push(barmap_ring_to_gpu* ring, void const* messages,
                                          size_t count);

/// Makes all messages arrive without waiting for more.
///
///     barmap_ring_to_gpu_flush(commands);
BARMAP_API void barmap_ring_to_gpu_flush(barmap_ring_to_gpu* ring);

/// Waits for room for a message, without giving up the CPU. Flush first: who reads makes room.
/// @param nanoseconds how long; 0: looks only
/// @return 1 if there is any; 0 if the time is over, or the consumer has closed the ring
///
///     while (barmap_ring_to_gpu_push(commands, &next, 1) == 0)
///         if (!barmap_ring_to_gpu_wait(commands, 5000000)) // 5 ms
///             return TOO_SLOW;
BARMAP_API int barmap_ring_to_gpu_wait(barmap_ring_to_gpu* ring, uint64_t nanoseconds);

/// What is in the ring, and whether the consumer has closed it.
///
///     barmap_ring_state state;
///     barmap_ring_to_gpu_state(commands, &state);
///     printf("%llu in flight\n", (unsigned long long)state.depth);
BARMAP_API void barmap_ring_to_gpu_state(barmap_ring_to_gpu const* ring, barmap_ring_state* out);

/// Says that no message follows, and flushes. The consumer reads those before, and then is told
/// `closed`. Frees nothing.
///
///     barmap_ring_to_gpu_close(commands);
BARMAP_API void barmap_ring_to_gpu_close(barmap_ring_to_gpu* ring);

/// Makes a ring for messages of GPU code to the CPU. As barmap_ring_to_gpu_create(), but for a
/// slot, which takes host memory: 16 bytes for messages of up to 8, otherwise a multiple of 64.
/// @param handle what a kernel takes as its barmap::gpu::ring_to_cpu<T>; NULL: not wanted
/// @param out    to be freed by barmap_ring_to_cpu_destroy()
///
///     barmap_ring_to_cpu_create(gpu, NULL, sizeof(answer), 1024, &handle, &answers);
BARMAP_API int barmap_ring_to_cpu_create(barmap_device* device, barmap_arena* arena,
                                         size_t message_bytes, size_t slots,
                                         barmap_ring_handle* handle, barmap_ring_to_cpu** out);
/// Gives another process the popping. As barmap_ring_to_gpu_share().
///
///     barmap_ring_to_cpu_share(answers, &descriptor);
BARMAP_API int barmap_ring_to_cpu_share(barmap_ring_to_cpu* ring, int* descriptor);

/// As barmap_ring_to_gpu_open_shared(), where the last consumer has ended. If that was killed, up to a
/// quarter of the slots may be read a second time.
///
///     barmap_ring_to_cpu_open_shared(received_descriptor, sizeof(answer), &answers);
BARMAP_API int barmap_ring_to_cpu_open_shared(int descriptor, size_t message_bytes,
                                              barmap_ring_to_cpu** out);
/// Frees the ring, without a word to its producers. NULL: nothing to do.
///
///     barmap_ring_to_cpu_destroy(answers);
BARMAP_API void barmap_ring_to_cpu_destroy(barmap_ring_to_cpu* ring);

/// Reads messages, as many as have arrived and are asked for, in order.
/// @param messages room for `count`, one after another, of any alignment
/// @return how many were read; what is behind them is unchanged
///
///     size_t const got = barmap_ring_to_cpu_pop(answers, list, 16);
BARMAP_API size_t barmap_ring_to_cpu_pop(barmap_ring_to_cpu* ring, void* messages, size_t count);

/// Waits for a message, without giving up the CPU.
/// @param nanoseconds how long; 0: looks only
/// @return 1 if there is one; 0 if the time is over, or the producers have closed the ring and all
///         was read
///
///     if (barmap_ring_to_cpu_wait(answers, 5000000) && barmap_ring_to_cpu_pop(answers, &next, 1))
///     ...
BARMAP_API int barmap_ring_to_cpu_wait(barmap_ring_to_cpu const* ring, uint64_t nanoseconds);

/// What is in the ring, and whether a producer has closed it. Messages that came before may be left.
///
///     barmap_ring_to_cpu_state(answers, &state);
///     if (state.closed && state.depth == 0) ...
BARMAP_API void barmap_ring_to_cpu_state(barmap_ring_to_cpu const* ring, barmap_ring_state* out);

/// Says that no message will be read any more: producers that find the ring full are told `closed`.
/// Frees nothing.
///
///     barmap_ring_to_cpu_close(answers);
BARMAP_API void barmap_ring_to_cpu_close(barmap_ring_to_cpu* ring);

/// Makes a number that the CPU advances, and GPU code and streams wait for. Any thread.
/// @param arena  whose GPU memory is taken
/// @param first  where it begins
/// @param handle what a kernel takes as its barmap::gpu::counter_to_gpu; NULL: not wanted. A failure
///               leaves it unchanged
/// @param out    to be freed by barmap_counter_to_gpu_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_OUT_OF_RANGE if the arena has no room;
///         BARMAP_ERROR_FORKED_CHILD
///
///     barmap_counter_to_gpu_create(words, 0, NULL, &inputs);
BARMAP_API int barmap_counter_to_gpu_create(barmap_arena* arena, uint64_t first,
                                            barmap_word_handle* handle,
                                            barmap_counter_to_gpu** out);
/// Gives another process the advancing, as barmap_ring_to_gpu_share() the pushing. Streams are told to
/// wait here. Any thread.
///
///     barmap_counter_to_gpu_share(inputs, &descriptor);
BARMAP_API int barmap_counter_to_gpu_share(barmap_counter_to_gpu const* counter, int* descriptor);

/// Opens a counter that a process has shared, at the number that was set last. Otherwise as
/// barmap_ring_to_gpu_open_shared().
///
///     barmap_counter_to_gpu_open_shared(received_descriptor, &inputs);
BARMAP_API int barmap_counter_to_gpu_open_shared(int descriptor, barmap_counter_to_gpu** out);
/// NULL: nothing to do.
///
///     barmap_counter_to_gpu_destroy(inputs);
BARMAP_API void barmap_counter_to_gpu_destroy(barmap_counter_to_gpu* counter);

/// Sets the number, at once, after all that this thread has written through mappings of this GPU
/// and to host memory. It must not go back. One thread at a time.
///
///     barmap_mapping_write(map, 0, values, sizeof values);
///     barmap_counter_to_gpu_advance(inputs, 17);
BARMAP_API void barmap_counter_to_gpu_advance(barmap_counter_to_gpu* counter, uint64_t to);

/// The number, as it was set last. Not beside barmap_counter_to_gpu_advance().
///
///     barmap_counter_to_gpu_advance(inputs, barmap_counter_to_gpu_value(inputs) + 1);
BARMAP_API uint64_t barmap_counter_to_gpu_value(barmap_counter_to_gpu const* counter);

/// Lets work that a stream is given from now on wait until the number is at least this. Captured
/// into a graph, each replay waits for the same number: call this before each launch. Any thread.
/// @param stream a CUstream or cudaStream_t; NULL: the default stream
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_UNSUPPORTED_OPERATION where the driver
///         lacks such waits; or BARMAP_ERROR_CUDA
///
///     barmap_counter_to_gpu_stream_wait(inputs, stream, 17);
BARMAP_API int barmap_counter_to_gpu_stream_wait(barmap_counter_to_gpu const* counter, void* stream,
                                                 uint64_t at_least);

/// Makes a number that GPU code or a stream advances, and the CPU waits for. As
/// barmap_counter_to_gpu_create(); it takes host memory as well.
/// @param handle what a kernel takes as its barmap::gpu::counter_to_cpu; NULL: not wanted
/// @param out    to be freed by barmap_counter_to_cpu_destroy()
///
///     barmap_counter_to_cpu_create(words, 0, &handle, &done);
BARMAP_API int barmap_counter_to_cpu_create(barmap_arena* arena, uint64_t first,
                                            barmap_counter_handle* handle,
                                            barmap_counter_to_cpu** out);
/// Lets other processes wait as well. As barmap_counter_to_gpu_share().
///
///     barmap_counter_to_cpu_share(done, &descriptor);
BARMAP_API int barmap_counter_to_cpu_share(barmap_counter_to_cpu const* counter, int* descriptor);

/// As barmap_counter_to_gpu_open_shared().
///
///     barmap_counter_to_cpu_open_shared(received_descriptor, &done);
BARMAP_API int barmap_counter_to_cpu_open_shared(int descriptor, barmap_counter_to_cpu** out);
/// NULL: nothing to do.
///
///     barmap_counter_to_cpu_destroy(done);
BARMAP_API void barmap_counter_to_cpu_destroy(barmap_counter_to_cpu* counter);

/// The number, as it is now. What was stored before it was advanced is seen after.
///
///     uint64_t const steps = barmap_counter_to_cpu_value(done);
BARMAP_API uint64_t barmap_counter_to_cpu_value(barmap_counter_to_cpu const* counter);

/// Waits until the number is at least this, without giving up the CPU.
/// @return 1 if it was reached within so many nanoseconds, else 0
///
///     if (!barmap_counter_to_cpu_wait(done, 17, 5000000)) ...
BARMAP_API int barmap_counter_to_cpu_wait(barmap_counter_to_cpu const* counter, uint64_t at_least,
                                          uint64_t nanoseconds);

/// Has a stream set the number when all work that it was given before is complete. Captured into a
/// graph, each replay sets the same number: call this after each launch. Otherwise as
/// barmap_counter_to_gpu_stream_wait().
///
///     barmap_counter_to_cpu_record(done, stream, 17);
BARMAP_API int barmap_counter_to_cpu_record(barmap_counter_to_cpu const* counter, void* stream,
                                            uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
