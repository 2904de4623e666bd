// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace barmap::os {

/// Readies the process for process_barrier(). May take some milliseconds where the process has
/// several threads. @return false where the kernel does not offer it (membarrier(2), Linux 4.14)
[[nodiscard]] bool register_process_barrier() noexcept;

/// A full memory barrier in every running thread of this process: what each did before it is seen
/// by the caller afterwards, and what the caller did before is seen by each. It lets a rare writer
/// pay for the fences of many readers. @pre register_process_barrier() said true
/// @return false if the kernel refuses all the same, for want of memory or by a filter
[[nodiscard]] bool process_barrier() noexcept;

/// Readies the process for restart_barrier(). @return false where the kernel does not offer it
/// (Linux 5.10)
[[nodiscard]] bool register_restart_barrier() noexcept;

/// Sends every thread of this process that is inside a restartable sequence (rseq(2)) back to its
/// start. @pre register_restart_barrier() said true. @return as process_barrier()
[[nodiscard]] bool restart_barrier() noexcept;

/// Where glibc registered each thread's struct rseq, from the thread pointer.
/// @return false where it did not: before glibc 2.35, or where it is switched off
[[nodiscard]] bool find_rseq(std::ptrdiff_t& offset) noexcept;

} // namespace barmap::os
