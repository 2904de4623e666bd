// SPDX-License-Identifier: MIT
#pragma once

namespace barmap::os {

/// A variable of the environment; null if it is not set, or if the process runs with more rights than
/// its user (setuid, setgid or file capabilities). Not kept: its reader says when it is read.
[[nodiscard]] char const* environment(char const* name) noexcept;

} // namespace barmap::os
