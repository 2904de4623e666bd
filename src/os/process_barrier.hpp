// SPDX-License-Identifier: MIT
#pragma once

namespace barmap::os {

/// Readies the process for process_barrier(). May take some milliseconds where the process has
/// several threads. @return false where the kernel does not offer it (membarrier(2), Linux 4.14)
[[nodiscard]] bool register_process_barrier() noexcept;

/// A full memory barrier in every running thread of this process: what each did before it is seen
/// by the caller afterwards, and what the caller did before is seen by each. It lets a rare writer
/// pay for the fences of many readers. @pre register_process_barrier() said true
void process_barrier() noexcept;

/// Readies the process for restart_barrier(). @return false where the kernel does not offer it
/// (Linux 5.10)
[[nodiscard]] bool register_restart_barrier() noexcept;

/// Sends every thread of this process that is inside a restartable sequence (rseq(2)) back to its
/// start. @pre register_restart_barrier() said true
void restart_barrier() noexcept;

} // namespace barmap::os
