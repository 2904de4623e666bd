// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

namespace barmap::python {

/// Adds the class LogRing.
void bind_logs(nanobind::module_& module);

} // namespace barmap::python
