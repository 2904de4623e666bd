// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/error.hpp>

#include <nanobind/nanobind.h>

namespace barmap::python {

/// Makes Python's pending exception a barmap.Error with what this error carries.
/// @pre the GIL is held
void set_python_error(error const& failure) noexcept;

/// From here on, a barmap::error that leaves a bound function becomes a barmap.Error.
void translate_errors(nanobind::module_& module);

} // namespace barmap::python
