// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

namespace barmap::python {

/// Adds dlpack_array: an object with __dlpack__ and __dlpack_device__ for GPU memory.
void bind_dlpack(nanobind::module_& module);

} // namespace barmap::python
