// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/export.hpp>

#include <chrono>

/// For processes that are checkpointed with what they have on the GPU, by cuda-checkpoint, CRIU, or
/// CUDA's cuCheckpointProcess functions. Without these two calls CUDA's memory moves, and mappings
/// go on to reach the memory that was there before.
///
///     barmap::checkpoint_prepare();
///     // ... the process is checkpointed and restored, by itself or by another one ...
///     barmap::checkpoint_restore();
///
/// share/doc/barmap/checkpoint.md has recipes; the rules are O49 to O51 of ordering.md.
namespace barmap::inline BARMAP_INLINE_NAMESPACE {

/// Releases all that the process holds of GPU memory through barmap: mappings, references to
/// memory, copy engines, descriptors of drivers. Every object goes on to exist, and every CPU
/// address stays taken: an access to one ends the process with SIGSEGV until checkpoint_restore().
/// Memory that device::allocate() made stays allocated. Until then every call that needs the GPU
/// throws errc::checkpointed; objects may be destroyed.
///
/// Waits for calls of other threads, and for batches that were submitted. Where the process is
/// prepared, it does nothing. Takes about as long as unmapping and unpinning all by hand.
/// Thread rule: may be called at any time, by any thread.
/// @param at_most how long to wait for batches and other calls
/// @throws error errc::copy_unfinished if some are still under way; errc::unsupported_operation for
///         what cannot come back: memory that was opened by a descriptor or an IPC handle, memory
///         that backend vulkan allocated or mapped, a pin with events, memory that has been freed
///         or revoked; errc::forked_child; what the system or the driver reports. Nothing has
///         changed then, unless the error says that the process is prepared
BARMAP_API void checkpoint_prepare(std::chrono::nanoseconds at_most = std::chrono::seconds(1));

/// Makes everything what it was before checkpoint_prepare(): each mapping at its addresses, of the
/// memory that CUDA has at the GPU addresses by now. Engines start when they are next needed;
/// tickets of batches that were done are done. Where CUDA was restored without a prepare, it puts
/// that right; else it does nothing where the process is not prepared.
/// Thread rule: may be called at any time, by any thread.
/// @throws error what starting the backends, pinning and mapping throw; errc::forked_child. The
///         process stays prepared then: call it again, once the cause is gone
BARMAP_API void checkpoint_restore();

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
