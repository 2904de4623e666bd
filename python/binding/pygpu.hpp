// SPDX-License-Identifier: MIT
#pragma once

#include "driver_use.hpp"
#include "released_gil.hpp"

#include "pygpu/runtime/runtime.hpp"

#include <nanobind/nanobind.h>

namespace barmap::python {

/// Adds the submodule pygpu: what the package barmap.pygpu is made of.
void bind_pygpu(nanobind::module_& module);

/// Its parts: functions of the runtime, streams and events; memory.
void bind_pygpu_control(nanobind::module_& module);
void bind_pygpu_memory(nanobind::module_& module);

/// The runtime's table. Loads its library at the first call.
inline runtime::function_table const& gpu() {
    driver_is_used = true;
    return runtime::current();
}

} // namespace barmap::python
