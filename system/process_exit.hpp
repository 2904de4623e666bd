// SPDX-License-Identifier: MIT
#pragma once

/// How long destructors may wait when the process exits.
namespace barmap::os {

/// From now on the exit of the process is noticed before the destructors of the static objects that
/// are complete by now. Each call has its price: call it once for each object that may wait.
void notice_exit() noexcept;

/// Whether the exit was noticed. Thread rule: free, as the next.
[[nodiscard]] bool exit_has_begun() noexcept;

/// Whether it was noticed more than two seconds ago, so that no destructor may wait any longer.
[[nodiscard]] bool exit_is_overdue() noexcept;

} // namespace barmap::os
