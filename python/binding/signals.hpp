// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

namespace barmap::python {

/// Adds the classes Arena, CounterToGpu and CounterToCpu.
void bind_signals(nanobind::module_& module);

} // namespace barmap::python
