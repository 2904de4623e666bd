// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/report.hpp>

#include <nanobind/nanobind.h>

#include <vector>

namespace barmap::python {

/// Facts by name.
using row = nanobind::typed<nanobind::dict, nanobind::str, nanobind::any>;
using row_list = nanobind::typed<nanobind::list, row>;

/// The reports of copy engines.
[[nodiscard]] row_list rows_of(std::vector<engine_report> const& reports);

/// Adds the functions that describe the GPUs and their copy engines.
void bind_reports(nanobind::module_& module);

} // namespace barmap::python
