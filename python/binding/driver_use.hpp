// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

namespace barmap::python {

/// Whether something has made the core load a driver. From then on BARMAP_SIM has no effect.
inline std::atomic<bool> driver_is_used{false};

} // namespace barmap::python
