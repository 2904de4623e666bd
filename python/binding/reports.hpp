// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/report.hpp>

#include <nanobind/nanobind.h>

#include <vector>

namespace barmap::python {

/// The reports of copy engines, each as a dictionary.
[[nodiscard]] nanobind::list rows_of(std::vector<engine_report> const& reports);

/// Adds the functions that describe the GPUs and their copy engines, each as a dictionary.
void bind_reports(nanobind::module_& module);

} // namespace barmap::python
