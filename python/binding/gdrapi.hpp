// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

namespace barmap::python {

/// Adds the submodule gdrapi: libgdrapi's functions, and owners of what they open and pin.
void bind_gdrapi(nanobind::module_& module);

} // namespace barmap::python
