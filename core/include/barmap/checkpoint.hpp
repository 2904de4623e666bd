// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/checkpoint.h>
#include <barmap/error.hpp>
#include <barmap/waits.hpp>

#include <chrono>

/// @file
/// For processes that cuda-checkpoint, CRIU, or CUDA's cuCheckpointProcess functions checkpoint
/// together with their GPU state. Without these two calls CUDA's memory moves, and mappings
/// continue to reach the old memory.
///
///     barmap::checkpoint_prepare();
///     // ... this process or another one checkpoints and restores it ...
///     barmap::checkpoint_restore();
///
/// share/doc/barmap/checkpoint.md has recipes; the rules are O49 to O51 of ordering.md.
namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// Releases all GPU resources that the process holds through barmap: mappings, references to
/// memory, copy engines and driver descriptors. Objects stay valid, CPU addresses stay reserved,
/// and memory of device::allocate() stays allocated. Until checkpoint_restore(), an access to a
/// mapping raises SIGSEGV, and every call that needs the GPU throws errc::checkpointed. You may
/// destroy objects.
///
/// Waits for calls of other threads and for submitted batches. Idempotent. Takes about as long as
/// unmapping and unpinning everything by hand.
/// Thread rule: any thread, at any time.
/// @param at_most how long to wait for batches and other calls
/// @throws error errc::copy_unfinished if some are still in flight; errc::unsupported_operation for
///         objects that barmap cannot restore: memory opened from a descriptor or an IPC handle,
///         memory that backend vulkan allocated or mapped, a pin with events, freed or revoked
///         memory; errc::forked_child; errors of the system or the driver. After an error nothing
///         has changed, unless it says that the process is prepared
inline void checkpoint_prepare(std::chrono::nanoseconds at_most = std::chrono::seconds(1)) {
    detail::check(barmap_checkpoint_prepare(detail::ns_of_wait(at_most)));
}

/// Restores the resources that checkpoint_prepare() released: each mapping keeps its CPU addresses
/// and reaches CUDA's present memory at the GPU addresses. Engines start at their next use; tickets
/// of finished batches stay done. If CUDA was restored without a prepare, this call repairs the
/// mappings; otherwise it does nothing in a process that is not prepared.
/// Thread rule: any thread, at any time.
/// @throws error errors of starting backends, pinning and mapping; errc::forked_child. After an
///         error the process stays prepared: remove the cause and call it again
inline void checkpoint_restore() {
    detail::check(barmap_checkpoint_restore());
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
