// SPDX-License-Identifier: MIT
// The class MappedMemory as Python sees it. The methods for users are of Python's own kind and
// not nanobind's, which inspect.signature does not know and whose argument errors speak of C++.
#include "arguments.hpp"
#include "docstrings.hpp"
#include "errors.hpp"
#include "mapped_memory.hpp"

#include <barmap/error.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <new>
#include <utility>

namespace nb = nanobind;

namespace barmap::python {
namespace {

/// The mapping of a Python object. @throws nanobind::python_error if that was never initialised
mapped_memory& made(nb::handle self) {
    if (!nb::inst_ready(self))
        raise(PyExc_ValueError,
              "this mapping was never made: barmap.map and barmap.alloc make mappings");
    return *nb::inst_ptr<mapped_memory>(self);
}

/// A member function for nanobind, which itself would call an object that was never initialised an
/// argument of the wrong type.
template <class Result, class... Arguments>
auto bound(Result (mapped_memory::*member)(Arguments...)) {
    return [member](nb::handle_t<mapped_memory> self, Arguments... arguments) {
        return (made(self).*member)(std::move(arguments)...);
    };
}
template <class Result>
auto bound(Result (mapped_memory::*member)() const) {
    return [member](nb::handle_t<mapped_memory> self) { return (made(self).*member)(); };
}

/// Calls a function with the mapping of a Python object; what it throws becomes Python's exception.
/// @return what the function returns, or failed
template <class Result, class Function>
Result translated(PyObject* self, Result failed, Function function) noexcept {
    try {
        return function(made(self));
    } catch (nb::python_error& raised) {
        raised.restore();
    } catch (error const& failure) {
        set_python_error(failure);
    } catch (std::bad_alloc const&) {
        PyErr_NoMemory();
    } catch (std::exception const& other) {
        PyErr_SetString(PyExc_RuntimeError, other.what());
    }
    return failed;
}

PyObject* const no_object = nullptr;

PyObject* write(PyObject* self, PyObject* const* values, Py_ssize_t given, PyObject* names) {
    return translated(self, no_object, [&](mapped_memory& memory) {
        auto const [buffer, offset] =
            arguments<2>("write", {"buf", "offset"}, 1, values, given, names);
        memory.write(self, buffer, index(offset, 0));
        return nb::none().release().ptr();
    });
}

PyObject* read(PyObject* self, PyObject* const* values, Py_ssize_t given, PyObject* names) {
    return translated(self, no_object, [&](mapped_memory& memory) {
        auto const [offset, bytes] = arguments<2>("read", {"offset", "n"}, 0, values, given, names);
        return memory.read(index(offset, 0), optional_index(bytes)).release().ptr();
    });
}

PyObject* read_into(PyObject* self, PyObject* const* values, Py_ssize_t given, PyObject* names) {
    return translated(self, no_object, [&](mapped_memory& memory) {
        auto const [buffer, offset] =
            arguments<2>("read_into", {"buf", "offset"}, 1, values, given, names);
        return PyLong_FromSsize_t(memory.read_into(self, buffer, index(offset, 0)));
    });
}

PyObject* post(PyObject* self, PyObject* const* values, Py_ssize_t given, PyObject* names) {
    return translated(self, no_object, [&](mapped_memory& memory) {
        auto const [value, offset, size] =
            arguments<3>("post", {"value", "offset", "size"}, 2, values, given, names);
        memory.post(value, index(offset), index(size, 8));
        return nb::none().release().ptr();
    });
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
    view->obj = nullptr;
    return translated(self, -1, [&](mapped_memory& memory) {
        memory.export_to(self, *view, flags);
        return 0;
    });
}

void release_buffer(PyObject* self, Py_buffer*) noexcept {
    nb::inst_ptr<mapped_memory>(self)->view_gone();
}

PyCFunction method(_PyCFunctionFastWithKeywords function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"write", method(write), METH_FASTCALL | METH_KEYWORDS, docstrings::write},
    {"read", method(read), METH_FASTCALL | METH_KEYWORDS, docstrings::read},
    {"read_into", method(read_into), METH_FASTCALL | METH_KEYWORDS, docstrings::read_into},
    {"post", method(post), METH_FASTCALL | METH_KEYWORDS, docstrings::post},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot const slots[] = {
    {Py_tp_methods, methods},
    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
    {0, nullptr},
};

} // namespace

void bind_mapped_memory(nb::module_& module) {
    using self = mapped_memory;
    nb::class_<self, inheritable>(module, "MappedMemory", nb::type_slots(slots))
        .def(nb::init<std::uintptr_t, std::size_t, std::string const&, bool, bool>(),
             nb::arg("address"), nb::arg("nbytes"), nb::arg("backend"), nb::arg("read_only"),
             nb::arg("events"))
        .def(nb::init<nb::bytes const&, std::size_t, std::size_t, int, std::string const&>(),
             nb::arg("ipc_handle"), nb::arg("offset"), nb::arg("nbytes"), nb::kw_only(),
             nb::arg("device"), nb::arg("backend"))
        .def(nb::init<int, bool>(), nb::kw_only(), nb::arg("descriptor"), nb::arg("read_only"))
        .def(nb::init<std::size_t, int, std::string const&>(), nb::arg("nbytes"), nb::kw_only(),
             nb::arg("device"), nb::arg("backend"))
        .def("close", bound(&self::close))
        .def("_close_after_users", bound(&self::close_after_users))
        .def("_set_elements", bound(&self::set_elements), nb::arg("dtype").none(),
             nb::arg("format"), nb::arg("itemsize"), nb::arg("offset"), nb::arg("shape"),
             nb::arg("strides"),
             nb::sig("def _set_elements(self, dtype: numpy.dtype[typing.Any] | None, format: str, "
                     "itemsize: int, offset: int, shape: collections.abc.Sequence[int], "
                     "strides: collections.abc.Sequence[int]) -> None"))
        .def("_fill", bound(&self::fill), nb::arg("pattern"), nb::arg("offset"), nb::arg("nbytes"))
        .def(
            "_bytes", [](nb::handle_t<self> memory) { return made(memory).bytes_view(memory); },
            nb::sig("def _bytes(self) -> memoryview"))
        .def(
            "_bytes_on_gpu",
            [](nb::handle_t<self> memory) { return made(memory).bytes_on_gpu(memory); },
            nb::sig("def _bytes_on_gpu(self) -> memoryview"))
        .def("_event_fd", bound(&self::event_fd))
        .def("_next_event", bound(&self::next_event),
             nb::sig("def _next_event(self) -> tuple[int, int, int, int] | None"))
        .def_prop_ro("nbytes", bound(&self::size))
        .def_prop_ro("gpu_address", bound(&self::gpu_address))
        .def_prop_ro("backend", bound(&self::backend))
        .def_prop_ro("device", bound(&self::device))
        .def_prop_ro("kind", bound(&self::kind))
        .def_prop_ro("readonly", bound(&self::read_only))
        .def_prop_ro("closed", bound(&self::closed));
}

} // namespace barmap::python
