// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

namespace barmap::python {

/// Adds the functions that tell about GPUs, backends and copy routines, as dictionaries.
void bind_reports(nanobind::module_& module);

} // namespace barmap::python
