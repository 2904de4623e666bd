// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

namespace barmap::python {

/// Adds the submodule vkgdr: libvkgdr's functions, and owners of what they open and allocate.
void bind_vkgdr(nanobind::module_& module);

} // namespace barmap::python
