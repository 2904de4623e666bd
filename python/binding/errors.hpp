// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/error.hpp>

#include <nanobind/nanobind.h>

namespace barmap::python {

/// Makes Python's pending exception a barmap.Error with what this error carries; of
/// errc::invalid_argument a barmap.ArgumentError, which is one, and a ValueError too.
/// @pre the GIL is held
void set_python_error(error const& failure) noexcept;

/// Raises a Python exception. The format is that of PyErr_Format.
/// @pre the GIL is held
/// @throws nanobind::python_error
[[noreturn]] void raise(PyObject* type, char const* format, ...);

/// From here on, a barmap::error that leaves a bound function becomes a barmap.Error.
void translate_errors(nanobind::module_& module);

} // namespace barmap::python
