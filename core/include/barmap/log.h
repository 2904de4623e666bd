// SPDX-License-Identifier: MIT
/// Logs of running GPU code, for C and languages that call C. Any thread of any kernel writes
/// records, and never waits. The CPU reads them while kernels run, after one has hung or failed,
/// and in other processes.
///
///     barmap_log *log;
///     barmap_log_handle handle;
///     if (barmap_log_create(gpu, 1 << 16, &handle, &log))
///         return fprintf(stderr, "%s\n", barmap_error_message()), 1;
///     void *arguments[] = {&handle}; // of work(barmap::gpu::log_ring)
///     cuLaunchKernel(work, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
///     barmap_log_record records[64];
///     while (barmap_log_wait(log, 1000000000)) // 1 s
///         for (size_t i = 0, count = barmap_log_read(log, records, 64); i < count; ++i)
///             printf("%u: block %u\n", records[i].id, records[i].a);
///     cuStreamSynchronize(stream);
///     barmap_log_destroy(log);
///
/// Each handle reads independently: any number of them, in any processes, see all records. Kernels
/// use <barmap/gpu/log.cuh>. The rules are in share/doc/barmap/log.md and ordering.md.
///
/// Errors: as in <barmap/barmap.h>, for functions that return a status. The others cannot fail, and
/// check nothing: NULL is the caller's error.
///
/// Threads: one at a time calls barmap_log_read(), barmap_log_wait() and barmap_log_lost() for a
/// log; threads may call all else at once. Freeing a handle is exclusive: free it when no kernel
/// writes to the log any more.
///
/// fork(): a child may only free the handle, and open its own by a descriptor.
#ifndef BARMAP_LOG_H
#define BARMAP_LOG_H

#include <barmap/arena.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barmap_log barmap_log; ///< a ring that keeps the newest records

/// barmap::gpu::log_ring, which kernels take by value. Its layout never changes.
typedef struct barmap_log_handle {
    uint64_t records, next; ///< GPU addresses
    uint64_t mask, shift;   ///< number of slots less 1, and 1 << shift
} barmap_log_handle;

/// A record that a kernel wrote. Its layout never changes.
typedef struct barmap_log_record {
    uint64_t time;    ///< nanoseconds, by the GPU's clock
    uint64_t number;  ///< of the record, counted from the log's first
    uint32_t id;      ///< names a place of the program
    uint32_t a, b, c; ///< as passed to barmap::gpu::log()
} barmap_log_record;

/// Makes a log, in separate memory. Any thread.
/// @param slots  how many records it keeps, of 32 bytes of host memory each: a power of two, up to
///               2^32
/// @param handle set to the argument for kernels; may be NULL. A failure leaves it unchanged
/// @param out    free it with barmap_log_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; or as barmap_arena_create()
///
///     barmap_log_create(gpu, 1 << 16, &handle, &log);
BARMAP_API int barmap_log_create(barmap_device* device, size_t slots, barmap_log_handle* handle,
                                 barmap_log** out);

/// The same with 8 bytes of GPU memory of an arena, for the next number. The records lie in a
/// separate memory file. Any thread.
/// @param first number of the first record
/// @return as barmap_log_create(); BARMAP_ERROR_OUT_OF_RANGE if the arena has no room
///
///     barmap_log_create_in(words, 65536, 0, &handle, &log);
BARMAP_API int barmap_log_create_in(barmap_arena* arena, size_t slots, uint64_t first,
                                    barmap_log_handle* handle, barmap_log** out);

/// The argument for kernels, without addresses if another process made the log. Any thread.
/// @param for_thread 1: for threads of this process that act as kernels, as in tests; else 0
///
///     barmap_log_get_handle(log, 0, &handle);
BARMAP_API void barmap_log_get_handle(barmap_log const* log, int for_thread,
                                      barmap_log_handle* handle);

/// Lets another process read as well. The descriptor gives access to the records alone, and keeps
/// them even if this process ends. Any thread.
/// @param descriptor set to a close-on-exec descriptor, which the caller closes; -1 on failure
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_SYSTEM if no descriptor is left
///
///     barmap_log_share(log, &descriptor); // and send it by SCM_RIGHTS
BARMAP_API int barmap_log_share(barmap_log const* log, int* descriptor);

/// Opens a log by a descriptor that its process has shared, or that was opened from /proc/PID/fd/N
/// for reading. Reading begins with the oldest record that is left; barmap_log_lost() counts those
/// before it. Maps the memory for reading only. Needs neither CUDA nor a GPU. Any thread.
/// @param descriptor remains the caller's, and can be opened any number of times
/// @param out        free it with barmap_log_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for a descriptor of something else;
///         BARMAP_ERROR_UNSUPPORTED_OPERATION if another version of barmap made it; or what the
///         system reports
///
///     barmap_log_open_shared(received_descriptor, &log);
BARMAP_API int barmap_log_open_shared(int descriptor, barmap_log** out);

/// Frees the log. NULL: does nothing.
///
///     barmap_log_destroy(log);
BARMAP_API void barmap_log_destroy(barmap_log* log);

/// Reads the records that have arrived, in the order of their numbers, each once. Never waits.
///
/// A record that a thread has begun and not written delays those behind it for up to 200 ms, and
/// then counts as lost: its thread was killed, or is late. The delay is longer if more than 16,384
/// contiguous records are missing.
/// @param records room for `count`
/// @return how many were read
///
///     size_t const got = barmap_log_read(log, records, 64);
BARMAP_API size_t barmap_log_read(barmap_log* log, barmap_log_record* records, size_t count);

/// Polls for a record, without giving up the CPU.
/// @param nanoseconds how long; 0: polls once
/// @return 1 if there is one, else 0
///
///     if (!barmap_log_wait(log, 1000000000)) ... // nothing for a second
BARMAP_API int barmap_log_wait(barmap_log* log, uint64_t nanoseconds);

/// How many records this handle has not read and never will: newer ones took their place, or their
/// threads never wrote them. It counts them when it reads a record behind them.
///
///     printf("%llu were lost\n", (unsigned long long)barmap_log_lost(log));
BARMAP_API uint64_t barmap_log_lost(barmap_log const* log);

#ifdef __cplusplus
}
#endif

#endif
