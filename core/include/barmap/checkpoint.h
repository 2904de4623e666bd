// SPDX-License-Identifier: MIT
/// For processes that cuda-checkpoint, CRIU, or CUDA's cuCheckpointProcess functions checkpoint
/// together with their GPU state. Without these two calls CUDA's memory moves, and mappings
/// continue to reach the memory that was there before.
///
///     if (barmap_checkpoint_prepare(1000000000))
///         return fprintf(stderr, "%s\n", barmap_error_message()), 1;
///     // ... the process is checkpointed and restored ...
///     if (barmap_checkpoint_restore())
///         return fprintf(stderr, "%s\n", barmap_error_message()), 1;
///
/// share/doc/barmap/checkpoint.md has recipes; the rules are O49 to O51 of ordering.md.
///
/// Errors: as in <barmap/barmap.h>. Threads: any, at any time. fork(): the calls fail in a child of
/// a process that held something of the GPU.
#ifndef BARMAP_CHECKPOINT_H
#define BARMAP_CHECKPOINT_H

#include <barmap/barmap.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Releases all GPU resources that the process holds through barmap: mappings, references to
/// memory, copy engines and driver descriptors. Handles stay valid, CPU addresses stay reserved,
/// and memory of barmap_pin_allocate() stays allocated. Until barmap_checkpoint_restore(), each
/// call that needs the GPU returns BARMAP_ERROR_CHECKPOINTED, and an access to a mapping ends the
/// process with SIGSEGV; you may free handles.
///
/// Waits for calls of other threads and for submitted batches. Takes about as long as unmapping and
/// unpinning everything by hand. Idempotent.
/// @param at_most_ns how long to wait, nanoseconds
/// @return 0; BARMAP_ERROR_COPY_UNFINISHED if batches or calls are still in flight;
///         BARMAP_ERROR_UNSUPPORTED_OPERATION for objects that could not be restored: memory that
///         was opened by a descriptor or an IPC handle, memory that backend vulkan allocated or
///         mapped, a pin with events, memory that was freed or revoked; BARMAP_ERROR_CHECKPOINTED
///         if CUDA was restored without this call: barmap_checkpoint_restore() repairs the
///         mappings; BARMAP_ERROR_FORKED_CHILD; or what the system or the driver reports. After a
///         failure nothing has changed, unless the message says that the process is prepared
BARMAP_API int barmap_checkpoint_prepare(uint64_t at_most_ns);

/// Restores what barmap_checkpoint_prepare() released: each mapping keeps its CPU addresses, and
/// reaches CUDA's present memory at the GPU addresses. Engines start at their next use; tickets of
/// batches that ended stay done. If CUDA was restored without a prepare, calls that notice it
/// return BARMAP_ERROR_CHECKPOINTED, and this one repairs the mappings; otherwise it does nothing
/// in a process that is not prepared.
/// @return 0; BARMAP_ERROR_COPY_UNFINISHED if batches or calls are still in flight after 10
///         seconds; BARMAP_ERROR_UNSUPPORTED_OPERATION for an object that cannot be restored;
///         BARMAP_ERROR_FORKED_CHILD; or what starting, pinning and mapping report. After a failure
///         calls that need the GPU continue to return BARMAP_ERROR_CHECKPOINTED: remove the cause
///         and call it again
BARMAP_API int barmap_checkpoint_restore(void);

#ifdef __cplusplus
}
#endif

#endif
