// SPDX-License-Identifier: MIT
#pragma once

#include "released_gil.hpp"

#include <atomic>

namespace barmap::python {

/// Whether something has made the core load a driver. From then on BARMAP_SIM has no effect.
inline std::atomic<bool> driver_is_used{false};

/// Makes a call that may use the driver, while other threads run Python.
template <class Call>
auto without_gil(Call const& call) {
    driver_is_used = true;
    released_gil const others_run;
    return call();
}

} // namespace barmap::python
