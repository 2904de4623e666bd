// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace barmap::python {

/// A stream, which Python has as a number.
inline void* stream_of(std::uintptr_t handle) noexcept {
    return reinterpret_cast<void*>(handle);
}

/// Puts what a function was called with (METH_FASTCALL | METH_KEYWORDS) into the order of its
/// parameters; null for those that were not given.
/// @pre the GIL is held
/// @throws nanobind::python_error with a TypeError as Python's own functions raise it
template <std::size_t Count>
std::array<nanobind::handle, Count>
arguments(char const* function, std::array<char const*, Count> const& names, std::size_t required,
          PyObject* const* values, Py_ssize_t positional, PyObject* keywords) {
    std::array<nanobind::handle, Count> found{};
    auto const given = static_cast<std::size_t>(positional);
    if (given > Count)
        raise(PyExc_TypeError, "%s() takes at most %zu arguments (%zu given)", function, Count,
              given);
    std::copy_n(values, given, found.begin());
    Py_ssize_t const named = keywords ? NB_TUPLE_GET_SIZE(keywords) : 0;
    for (Py_ssize_t i = 0; i < named; ++i) {
        PyObject* const name = NB_TUPLE_GET_ITEM(keywords, i);
        auto const place = static_cast<std::size_t>(
            std::find_if(names.begin(), names.end(),
                         [name](char const* each) {
                             return PyUnicode_CompareWithASCIIString(name, each) == 0;
                         }) -
            names.begin());
        if (place == Count)
            raise(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function, name);
        if (found[place].is_valid())
            raise(PyExc_TypeError, "%s() got multiple values for argument '%U'", function, name);
        found[place] = values[positional + i];
    }
    for (std::size_t i = 0; i < required; ++i)
        if (!found[i].is_valid())
            raise(PyExc_TypeError, "%s() missing required argument '%s'", function, names[i]);
    return found;
}

/// A whole number, as sequences take it as an index. @throws nanobind::python_error
inline Py_ssize_t index(nanobind::handle number) {
    Py_ssize_t const value = PyNumber_AsSsize_t(number.ptr(), PyExc_IndexError);
    if (value == -1 && PyErr_Occurred())
        throw nanobind::python_error();
    return value;
}

/// The same for one that may be left out.
inline Py_ssize_t index(nanobind::handle number, Py_ssize_t otherwise) {
    return number.is_valid() ? index(number) : otherwise;
}

/// The same for one that may be left out or None.
inline std::optional<Py_ssize_t> optional_index(nanobind::handle number) {
    if (!number.is_valid() || number.is_none())
        return std::nullopt;
    return index(number);
}

} // namespace barmap::python
