// SPDX-License-Identifier: MIT
// Memory of the device, and page-locked memory of the host.
#include "host_buffer.hpp"
#include "pygpu.hpp"

#include "pygpu/runtime/device_memory.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>

namespace nb = nanobind;

namespace barmap::python {
namespace {

using runtime::status;

using sizes = std::vector<std::size_t>;
using steps = std::vector<std::ptrdiff_t>;

class device_range {
public:
    explicit device_range(std::size_t bytes)
        : range_(without_gil([&] { return new runtime::device_memory(bytes); })) {}
    device_range(std::uintptr_t address, std::size_t bytes, int device)
        : range_(without_gil([&] { return new runtime::device_memory(address, bytes, device); })) {}
    ~device_range() {
        released_gil const others_run; // freeing waits for the device
        range_.reset();
    }
    device_range(device_range const&) = delete;
    device_range& operator=(device_range const&) = delete;

    [[nodiscard]] runtime::device_memory const& range() const noexcept { return *range_; }

    status write(std::size_t offset, buffer host) {
        host_buffer const from(host, PyBUF_SIMPLE);
        auto const bytes = static_cast<std::size_t>(from.size());
        expect_inside(offset, bytes);
        if (keeps_gil(copy_direction::to_gpu, bytes) &&
            range_->write_now(offset, from.data(), bytes))
            return runtime::success;
        return without_gil([&] { return range_->write(offset, from.data(), bytes); });
    }

    status read(std::size_t offset, buffer host) {
        host_buffer const to(host, PyBUF_WRITABLE);
        auto const bytes = static_cast<std::size_t>(to.size());
        expect_inside(offset, bytes);
        if (keeps_gil(copy_direction::to_cpu, bytes) && range_->read_now(to.data(), offset, bytes))
            return runtime::success;
        return without_gil([&] { return range_->read(to.data(), offset, bytes); });
    }

    /// Elements between here and a buffer that holds them in C order.
    status move_elements(std::size_t offset, steps strides, buffer given, sizes shape,
                         std::size_t element, bool write) {
        host_buffer const host(given, write ? PyBUF_SIMPLE : PyBUF_WRITABLE);
        runtime::layout const there = inside(offset, strides, shape, element);
        steps dense(shape.size());
        std::size_t span = element;
        for (std::size_t k = shape.size(); k-- > 0;) {
            dense[k] = static_cast<std::ptrdiff_t>(span);
            span *= shape[k];
        }
        if (span != static_cast<std::size_t>(host.size()))
            throw nb::value_error("the buffer has another size than the elements");
        runtime::layout const here{reinterpret_cast<std::uintptr_t>(host.data()), dense};
        return without_gil([&] {
            return write ? range_->write_elements(there, here, shape, element)
                         : range_->read_elements(here, there, shape, element);
        });
    }

    /// Elements from other memory of a device.
    status copy_elements(std::size_t offset, steps const& strides, device_range const& from,
                         std::size_t from_offset, steps const& from_strides, sizes const& shape,
                         std::size_t element) {
        runtime::layout const to = inside(offset, strides, shape, element);
        runtime::layout const source = from.inside(from_offset, from_strides, shape, element);
        return without_gil([&]() -> status {
            if (status const failed = from.range_->usable())
                return failed;
            if (status const failed = range_->usable())
                return failed;
            runtime::device_scope const here(range_->device());
            return runtime::copy_elements(to, source, shape, element,
                                          runtime::memcpy_kind::on_device);
        });
    }

private:
    void expect_inside(std::size_t offset, std::size_t bytes) const {
        if (offset > range_->size() || bytes > range_->size() - offset)
            throw nb::value_error("the transfer leaves the memory");
    }

    /// A layout of elements that lie in this memory.
    [[nodiscard]] runtime::layout inside(std::size_t offset, steps const& strides,
                                         sizes const& shape, std::size_t element) const {
        if (strides.size() != shape.size())
            throw nb::value_error("give as many strides as axes");
        auto lowest = static_cast<std::ptrdiff_t>(offset);
        auto highest = lowest + static_cast<std::ptrdiff_t>(element);
        for (std::size_t k = 0; k < shape.size(); ++k) {
            if (shape[k] == 0)
                return {range_->address(), strides};
            auto const reach = strides[k] * static_cast<std::ptrdiff_t>(shape[k] - 1);
            (reach < 0 ? lowest : highest) += reach;
        }
        if (lowest < 0 || highest > static_cast<std::ptrdiff_t>(range_->size()))
            throw nb::value_error("the elements leave the memory");
        return {range_->address() + offset, strides};
    }

    std::unique_ptr<runtime::device_memory> range_;
};

class pagelocked {
public:
    explicit pagelocked(std::size_t bytes)
        : memory_(without_gil([&] { return new runtime::pinned_memory(bytes); })) {}
    ~pagelocked() {
        released_gil const others_run;
        memory_.reset();
    }
    pagelocked(pagelocked const&) = delete;
    pagelocked& operator=(pagelocked const&) = delete;

    [[nodiscard]] runtime::pinned_memory const& get() const noexcept { return *memory_; }

private:
    std::unique_ptr<runtime::pinned_memory> memory_;
};

int get_pinned_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
    if (!nb::inst_ready(self) || !nb::inst_ptr<pagelocked>(self)->get().data()) {
        view->obj = nullptr;
        PyErr_SetString(PyExc_BufferError, "there is no memory: its allocation failed");
        return -1;
    }
    auto const& memory = nb::inst_ptr<pagelocked>(self)->get();
    return PyBuffer_FillInfo(view, self, memory.data(), static_cast<Py_ssize_t>(memory.size()),
                             false, flags);
}

PyType_Slot const pinned_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_pinned_buffer)},
    {0, nullptr},
};

/// Gives the buffer protocol to classes in Python: an instance exports what its attribute
/// `_host_array` exports.
struct host_export {};

int get_host_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
    view->obj = nullptr;
    PyObject* const array = PyObject_GetAttrString(self, "_host_array");
    if (!array)
        return -1;
    int const done = PyObject_GetBuffer(array, view, flags); // the view holds the array
    Py_DECREF(array);
    return done;
}

PyType_Slot const host_export_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_host_buffer)},
    {0, nullptr},
};

/// Where the allocation around an address begins, how long it is, and the answer.
std::tuple<std::uintptr_t, std::size_t, status> address_range(std::uintptr_t address) {
    void* base = nullptr;
    std::size_t bytes = 0;
    status const answer = without_gil(
        [&] { return gpu().address_range(&base, &bytes, reinterpret_cast<void*>(address)); });
    return {reinterpret_cast<std::uintptr_t>(base), bytes, answer};
}

/// The device that owns an address; none where the runtime does not say.
std::optional<int> owner(std::uintptr_t address) {
    return without_gil([&]() -> std::optional<int> {
        int device = -1;
        runtime::function_table const& table = gpu();
        if (!table.device_of ||
            table.device_of(&device, reinterpret_cast<void const*>(address)) != runtime::success)
            return std::nullopt;
        return device;
    });
}

} // namespace

void bind_pygpu_memory(nb::module_& module) {
    nb::class_<device_range>(module, "DeviceMemory")
        .def(nb::init<std::size_t>(), nb::arg("nbytes"))
        .def(nb::init<std::uintptr_t, std::size_t, int>(), nb::arg("address"), nb::arg("nbytes"),
             nb::arg("device"))
        .def_prop_ro("made", [](device_range const& self) { return self.range().allocated(); })
        .def_prop_ro("address", [](device_range const& self) { return self.range().address(); })
        .def_prop_ro("nbytes", [](device_range const& self) { return self.range().size(); })
        .def_prop_ro("device", [](device_range const& self) { return self.range().device(); })
        .def_prop_ro("mapped", [](device_range const& self) { return self.range().mapped(); })
        .def_prop_ro("mapped_transfers",
                     [](device_range const& self) { return self.range().mapped_transfers(); })
        .def("write", &device_range::write, nb::arg("offset"), nb::arg("buffer"))
        .def("read", &device_range::read, nb::arg("offset"), nb::arg("buffer"))
        .def(
            "write_elements",
            [](device_range& self, std::size_t offset, steps strides, buffer host, sizes shape,
               std::size_t element) {
                return self.move_elements(offset, strides, host, shape, element, true);
            },
            nb::arg("offset"), nb::arg("strides"), nb::arg("buffer"), nb::arg("shape"),
            nb::arg("itemsize"))
        .def(
            "read_elements",
            [](device_range& self, std::size_t offset, steps strides, buffer host, sizes shape,
               std::size_t element) {
                return self.move_elements(offset, strides, host, shape, element, false);
            },
            nb::arg("offset"), nb::arg("strides"), nb::arg("buffer"), nb::arg("shape"),
            nb::arg("itemsize"))
        .def("copy_elements", &device_range::copy_elements, nb::arg("offset"), nb::arg("strides"),
             nb::arg("source"), nb::arg("source_offset"), nb::arg("source_strides"),
             nb::arg("shape"), nb::arg("itemsize"));
    nb::class_<pagelocked>(module, "PinnedMemory", nb::type_slots(pinned_slots))
        .def(nb::init<std::size_t>(), nb::arg("nbytes"))
        .def_prop_ro("made", [](pagelocked const& self) { return self.get().allocated(); })
        .def_prop_ro("nbytes", [](pagelocked const& self) { return self.get().size(); });
    nb::class_<host_export>(module, "HostExport", nb::type_slots(host_export_slots),
                            nb::dynamic_attr(), nb::is_weak_referenceable())
        .def(nb::init<>());
    module.def("address_range", &address_range, nb::arg("address"));
    module.def("owner", &owner, nb::arg("address"));
    module.def("use_mapping", &runtime::use_mapping, nb::arg("on"));
}

} // namespace barmap::python
