// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/export.hpp>

#include <chrono>

/// For processes that cuda-checkpoint, CRIU, or CUDA's cuCheckpointProcess functions checkpoint
/// together with their GPU state. Without these two calls CUDA's memory moves, and mappings
/// continue to reach the memory that was there before.
///
///     barmap::checkpoint_prepare();
///     // ... the process is checkpointed and restored, by itself or by another one ...
///     barmap::checkpoint_restore();
///
/// share/doc/barmap/checkpoint.md has recipes; the rules are O49 to O51 of ordering.md.
namespace barmap::inline BARMAP_INLINE_NAMESPACE {

/// Releases all GPU resources that the process holds through barmap: mappings, references to
/// memory, copy engines, descriptors of drivers. Objects stay valid, CPU addresses stay reserved,
/// and memory of device::allocate() stays allocated. Until checkpoint_restore(), an access to a
/// mapping ends the process with SIGSEGV, and every call that needs the GPU throws
/// errc::checkpointed; you may destroy objects.
///
/// Waits for calls of other threads, and for submitted batches. Idempotent. Takes about as long as
/// unmapping and unpinning everything by hand.
/// Thread rule: any thread, at any time.
/// @param at_most how long to wait for batches and other calls
/// @throws error errc::copy_unfinished if some are still in flight; errc::unsupported_operation for
///         objects that could not be restored: memory that was opened by a descriptor or an IPC
///         handle, memory that backend vulkan allocated or mapped, a pin with events, memory that
///         was freed or revoked; errc::forked_child; what the system or the driver reports. After
///         an error nothing has changed, unless it says that the process is prepared
BARMAP_API void checkpoint_prepare(std::chrono::nanoseconds at_most = std::chrono::seconds(1));

/// Restores what checkpoint_prepare() released: each mapping, at its CPU addresses, reaches the
/// memory that CUDA has at the GPU addresses now. Engines start when they are next needed; tickets
/// of batches that were done stay done. If CUDA was restored without a prepare, this call repairs
/// the mappings; in a process that is not prepared, it does nothing.
/// Thread rule: any thread, at any time.
/// @throws error what starting the backends, pinning and mapping throw; errc::forked_child. After
///         an error the process stays prepared: call it again once the cause is gone
BARMAP_API void checkpoint_restore();

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
