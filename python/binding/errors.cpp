// SPDX-License-Identifier: MIT
#include "errors.hpp"

#include <nanobind/stl/string.h>

#include <cstdarg>

namespace nb = nanobind;

namespace barmap::python {
namespace {

// Never released: errors may be set until the process ends.
PyObject* error_type = nullptr;
PyObject* argument_error_type = nullptr;

} // namespace

void set_python_error(error const& failure) noexcept {
    try {
        PyObject* const type =
            failure.code() == errc::invalid_argument ? argument_error_type : error_type;
        nb::object const made = nb::handle(type)(failure.what());
        made.attr("operation") = failure.operation();
        made.attr("code") = failure.code().value();
        made.attr("category") = failure.code().category().name();
        made.attr("backend") = failure.backend();
        made.attr("advice") = failure.advice();
        PyErr_SetObject(type, made.ptr());
    } catch (nb::python_error& other) {
        other.restore(); // out of memory, most likely
    } catch (std::exception const& other) {
        PyErr_SetString(PyExc_RuntimeError, other.what());
    }
}

void raise(PyObject* type, char const* format, ...) {
    va_list values;
    va_start(values, format);
    PyErr_FormatV(type, format, values);
    va_end(values);
    throw nb::python_error();
}

void translate_errors(nb::module_& module) {
    nb::object const errors = nb::module_::import_("barmap._base.error");
    module.attr("Error") = errors.attr("Error");
    error_type = nb::object(errors.attr("Error")).release().ptr();
    argument_error_type = nb::object(errors.attr("ArgumentError")).release().ptr();
    nb::register_exception_translator([](std::exception_ptr const& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (error const& failure) {
            set_python_error(failure);
        }
    });
}

} // namespace barmap::python
