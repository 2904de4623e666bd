// SPDX-License-Identifier: MIT
/// For processes that are checkpointed with what they have on the GPU, by cuda-checkpoint, CRIU, or
/// CUDA's cuCheckpointProcess functions: without these two calls CUDA's memory moves, and mappings
/// go on to reach the memory that was there before.
///
///     if (barmap_checkpoint_prepare(1000000000))
///         return fprintf(stderr, "%s\n", barmap_error_message()), 1;
///     // ... the process is checkpointed and restored ...
///     if (barmap_checkpoint_restore())
///         return fprintf(stderr, "%s\n", barmap_error_message()), 1;
///
/// share/doc/barmap/checkpoint.md has recipes; the rules are O49 to O51 of ordering.md.
///
/// Errors: as in <barmap/barmap.h>. Threads: any, at any time. fork(): a child is refused if its
/// parent held something.
#ifndef BARMAP_CHECKPOINT_H
#define BARMAP_CHECKPOINT_H

#include <barmap/barmap.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Releases all that the process holds of GPU memory through barmap. Every handle and every CPU
/// address stays what it is: until barmap_checkpoint_restore() each call that needs the GPU answers
/// BARMAP_ERROR_CHECKPOINTED, an access to the memory ends the process with SIGSEGV, and handles may
/// be freed. Where the process is prepared, it does nothing.
/// @param at_most_ns how long to wait for batches and for calls of other threads, nanoseconds
/// @return 0; BARMAP_ERROR_COPY_UNFINISHED if some are still under way;
///         BARMAP_ERROR_UNSUPPORTED_OPERATION for what cannot come back: memory that was opened by a
///         descriptor or an IPC handle, memory that backend vulkan allocated or mapped, a pin with
///         events, memory that has been freed or revoked; BARMAP_ERROR_FORKED_CHILD; or what the
///         system or the driver reports. Nothing has changed then, unless the message says that the
///         process is prepared
BARMAP_API int barmap_checkpoint_prepare(uint64_t at_most_ns);

/// Makes everything what it was, each mapping at its addresses. Where CUDA was restored without a
/// prepare, it puts that right; else it does nothing where the process is not prepared.
/// @return 0; BARMAP_ERROR_FORKED_CHILD; or what starting, pinning and mapping report. The process
///         stays prepared then: call it again, once the cause is gone
BARMAP_API int barmap_checkpoint_restore(void);

#ifdef __cplusplus
}
#endif

#endif
