// SPDX-License-Identifier: MIT
#pragma once

namespace barmap::os {

/// Whether the kernel has a NUMA node of this number. False where it does not say, as in a sandbox
/// without /sys. Thread rule: free.
[[nodiscard]] bool has_numa_node(int number) noexcept;

} // namespace barmap::os
