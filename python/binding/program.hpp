// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

namespace barmap::python {

/// Adds run_program(words, again), the program barmap; nothing where this was built without the program.
void bind_program(nanobind::module_& module);

} // namespace barmap::python
