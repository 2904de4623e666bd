// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

namespace barmap::python {

/// Adds the functions that describe the GPUs and their copy engines, each as a dictionary.
void bind_reports(nanobind::module_& module);

} // namespace barmap::python
