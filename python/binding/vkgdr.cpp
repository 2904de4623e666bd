// SPDX-License-Identifier: MIT
#include "vkgdr.hpp"

#include "driver_use.hpp"

#include "vkgdr/library/last_error.hpp"
#include "vkgdr/library/vkgdr.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

namespace nb = nanobind;

namespace barmap::python {
// nanobind distinguishes types by their names: they differ from those of other files.
namespace vkgdr_objects {
namespace {

std::optional<std::string> last_error() {
    std::unique_ptr<char, decltype(&std::free)> const text(::vkgdr_last_error(), &std::free);
    if (!text)
        return std::nullopt;
    return text.get();
}

/// One vkgdr_open(), closed when its last reference goes.
class gpu {
public:
    explicit gpu(vkgdr_t opened) noexcept : handle_(opened) {}
    ~gpu() {
        without_gil([this] { ::vkgdr_close(handle_); });
    }
    gpu(gpu const&) = delete;
    gpu& operator=(gpu const&) = delete;

    [[nodiscard]] vkgdr_t handle() const noexcept { return handle_; }

private:
    vkgdr_t handle_;
};

/// One vkgdr_memory_alloc(), freed when the last reference to it and its views goes.
class memory {
public:
    memory(vkgdr_memory_t allocated, nb::object kept) noexcept
        : kept_(std::move(kept)), handle_(allocated) {}
    ~memory() {
        // Unmapping may wait for a kernel that another thread is about to answer.
        without_gil([this] { ::vkgdr_memory_free(handle_); });
    }
    memory(memory const&) = delete;
    memory& operator=(memory const&) = delete;

    [[nodiscard]] vkgdr_memory_t handle() const noexcept { return handle_; }

private:
    nb::object kept_; ///< released after the memory
    vkgdr_memory_t handle_;
};

gpu* open(int device, std::uint32_t flags) {
    vkgdr_t const opened = without_gil([&] { return ::vkgdr_open(device, flags); });
    return opened ? new gpu(opened) : nullptr;
}

memory* allocate(gpu const& on, std::size_t size, std::uint32_t flags, nb::object kept) {
    vkgdr_memory_t const allocated =
        without_gil([&] { return ::vkgdr_memory_alloc(on.handle(), size, flags); });
    return allocated ? new memory(allocated, std::move(kept)) : nullptr;
}

/// @return what was wrong with the range, if something was
template <auto Function>
std::optional<std::string> for_range(memory const& of, std::size_t offset, std::size_t size) {
    vkgdr::last_error::clear();
    Function(of.handle(), offset, size);
    return last_error();
}

std::uintptr_t host_pointer(memory const& of) {
    return reinterpret_cast<std::uintptr_t>(::vkgdr_memory_get_host_ptr(of.handle()));
}

int refuse_buffer(Py_buffer* view, char const* why) noexcept {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, why);
    return -1;
}

/// The buffer protocol of memory: bytes that the CPU and the GPU share.
int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
    if (!nb::inst_ready(self))
        return refuse_buffer(view, "this memory was never allocated");
    vkgdr_memory_t const handle = nb::inst_ptr<memory>(self)->handle();
    void* const host = ::vkgdr_memory_get_host_ptr(handle);
    if (!host)
        return refuse_buffer(view, "this process has no mapping of the memory");
    return PyBuffer_FillInfo(view, self, host,
                             static_cast<Py_ssize_t>(::vkgdr_memory_get_size(handle)), 0, flags);
}

/// The buffer protocol of a Python object that has such memory as its attribute _memory. The view
/// holds the memory and not the object, which may give its memory up meanwhile.
int get_buffer_of_attribute(PyObject* self, Py_buffer* view, int flags) noexcept {
    view->obj = nullptr;
    PyObject* const found = PyObject_GetAttrString(self, "_memory");
    if (!found)
        return -1;
    int const result = found == Py_None ? refuse_buffer(view, "this memory was freed")
                                        : PyObject_GetBuffer(found, view, flags);
    Py_DECREF(found);
    return result;
}

PyType_Slot memory_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
    {0, nullptr},
};

PyType_Slot attribute_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer_of_attribute)},
    {0, nullptr},
};

/// Adds nothing to object, so that a class may derive from it and from a class of another
/// extension.
PyType_Spec attribute_spec = {"barmap._barmap.vkgdr.HasMemory", 0, 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, attribute_slots};

void bind(nb::module_& module) {
    nb::module_ vkgdr_module = module.def_submodule("vkgdr");
    nb::class_<gpu>(vkgdr_module, "Gpu");
    nb::class_<memory>(vkgdr_module, "Memory", nb::type_slots(memory_slots))
        .def_prop_ro("host_pointer", &host_pointer)
        .def_prop_ro("device_pointer",
                     [](memory const& of) { return ::vkgdr_memory_get_device_ptr(of.handle()); })
        .def_prop_ro("size", [](memory const& of) { return ::vkgdr_memory_get_size(of.handle()); })
        .def_prop_ro("is_coherent",
                     [](memory const& of) { return ::vkgdr_memory_is_coherent(of.handle()); })
        .def_prop_ro(
            "non_coherent_atom_size",
            [](memory const& of) { return ::vkgdr_memory_non_coherent_atom_size(of.handle()); })
        .def("flush", &for_range<::vkgdr_memory_flush>)
        .def("invalidate", &for_range<::vkgdr_memory_invalidate>);
    nb::object const has_memory = nb::steal(PyType_FromSpec(&attribute_spec));
    if (!has_memory.is_valid())
        throw nb::python_error();
    vkgdr_module.attr("HasMemory") = has_memory;
    vkgdr_module.def("open", &open, nb::sig("def open(device: int, flags: int, /) -> Gpu | None"));
    vkgdr_module.def("allocate", &allocate, nb::arg("on"), nb::arg("size"), nb::arg("flags"),
                     nb::arg("kept").none(),
                     nb::sig("def allocate(on: Gpu, size: int, flags: int, kept: object | None) "
                             "-> Memory | None"));
    vkgdr_module.def("last_error", &last_error);
    vkgdr_module.attr("OPEN_CURRENT_CONTEXT_BIT") =
        static_cast<int>(VKGDR_OPEN_CURRENT_CONTEXT_BIT);
    vkgdr_module.attr("OPEN_FORCE_NON_COHERENT_BIT") =
        static_cast<int>(VKGDR_OPEN_FORCE_NON_COHERENT_BIT);
    vkgdr_module.attr("OPEN_REQUIRE_COHERENT_BIT") =
        static_cast<int>(VKGDR_OPEN_REQUIRE_COHERENT_BIT);
}

} // namespace
} // namespace vkgdr_objects

void bind_vkgdr(nb::module_& module) {
    vkgdr_objects::bind(module);
}

} // namespace barmap::python
