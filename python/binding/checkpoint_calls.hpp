// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

namespace barmap::python {

void bind_checkpoint(nanobind::module_& module);

} // namespace barmap::python
