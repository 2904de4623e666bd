// SPDX-License-Identifier: MIT
#pragma once

#include "system/process.hpp"

namespace barmap::cuda {

/// Whether CUDA (and Vulkan) may still be called for objects of the process `owner`: neither in a
/// forked child, nor once the process exits, where drivers may be torn down before our objects, nor
/// where an exit has waited too long for a stream, for which the driver's calls might wait as well.
/// Destructors ask this and abandon their handles where it is false. Thread rule: free.
[[nodiscard]] bool drivers_are_up(os::process_id owner) noexcept;

/// From now on the exit of the process is noticed. Call once a driver is loaded.
void watch_exit();

} // namespace barmap::cuda
