// SPDX-License-Identifier: MIT
// Device control: each function gives the runtime's status, alone or behind its value.
#include "pygpu.hpp"
#include "reports.hpp"

#include "pygpu/runtime/device_memory.hpp"
#include "pygpu/runtime/queue.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>
#include <tuple>

namespace nb = nanobind;

namespace barmap::python {
namespace {

using runtime::status;

std::tuple<int, status> device_count() {
    int count = 0;
    status const answer = without_gil([&] { return gpu().device_count(&count); });
    return {answer == runtime::success ? count : 0, answer};
}

std::tuple<int, status> get_device() {
    int device = 0;
    status const answer = without_gil([&] { return gpu().get_device(&device); });
    return {answer == runtime::success ? device : 0, answer};
}

std::tuple<std::size_t, std::size_t, status> memory_info() {
    std::size_t available = 0, total = 0;
    status const answer = without_gil([&] { return gpu().memory_info(&available, &total); });
    return {available, total, answer};
}

std::tuple<std::optional<row>, status> describe(int device) {
    runtime::device_facts facts;
    status const answer = without_gil([&] { return gpu().describe_device(&facts, device); });
    if (answer != runtime::success)
        return {std::nullopt, answer};
    row described;
    described["name"] = facts.name;
    described["uuid"] = nb::bytes(reinterpret_cast<char const*>(facts.uuid), sizeof facts.uuid);
    described["total_memory"] = facts.total_memory;
    described["pci_domain"] = facts.pci_domain;
    described["pci_bus"] = facts.pci_bus;
    described["pci_device"] = facts.pci_device;
    described["major"] = facts.major;
    described["minor"] = facts.minor;
    described["multiprocessors"] = facts.multiprocessors;
    described["warp_size"] = facts.warp_size;
    described["max_threads_per_block"] = facts.max_threads_per_block;
    described["integrated"] = facts.integrated;
    return {described, answer};
}

/// Destroys without the GIL, which may wait for the device.
struct destroyed_without_gil {
    template <class Object>
    void operator()(Object* object) const {
        released_gil const others_run;
        delete object;
    }
};

/// A stream or an event, made and destroyed without the GIL.
template <class Object>
class owned {
public:
    template <class... Arguments>
    explicit owned(Arguments... arguments)
        : object_(without_gil([&] { return new Object(arguments...); })) {}
    [[nodiscard]] Object const& get() const noexcept { return *object_; }

private:
    std::unique_ptr<Object, destroyed_without_gil> object_;
};
using held_stream = owned<runtime::stream>;
using held_event = owned<runtime::event>;

template <class Held>
void bind_object(nb::class_<Held>& type) {
    type.def_prop_ro(
            "handle",
            [](Held const& self) { return reinterpret_cast<std::uintptr_t>(self.get().handle()); })
        .def_prop_ro("device", [](Held const& self) { return self.get().device(); })
        .def_prop_ro("made", [](Held const& self) { return self.get().made(); })
        .def("synchronize",
             [](Held const& self) { return without_gil([&] { return self.get().synchronize(); }); })
        .def("query", [](Held const& self) { return self.get().query(); });
}

void bind_streams(nb::module_& module) {
    nb::class_<held_stream> stream(module, "Stream");
    stream.def(nb::init<unsigned, int>(), nb::arg("flags") = 0, nb::arg("priority") = 0);
    bind_object(stream);
    nb::class_<held_event> event(module, "Event");
    event.def(nb::init<unsigned>(), nb::arg("flags") = 0)
        .def(
            "record",
            [](held_event const& self, held_stream const* on) {
                return without_gil([&] { return self.get().record(on ? &on->get() : nullptr); });
            },
            nb::arg("stream").none() = nb::none())
        .def(
            "elapsed",
            [](held_event const& self, held_event const& end) {
                float milliseconds = 0;
                status const answer = self.get().elapsed(milliseconds, end.get());
                return std::make_tuple(milliseconds, answer);
            },
            nb::arg("end"));
    bind_object(event);
    stream.def(
        "wait",
        [](held_stream const& self, held_event const& recorded) {
            return without_gil([&] { return self.get().wait(recorded.get()); });
        },
        nb::arg("event"));
}

} // namespace

void bind_pygpu_control(nb::module_& module) {
    module.def("vendor", [] { return without_gil([] { return gpu().vendor; }); });
    module.def("device_count", &device_count);
    module.def("get_device", &get_device);
    module.def(
        "set_device",
        [](int device) { return without_gil([&] { return gpu().set_device(device); }); },
        nb::arg("device"));
    module.def("synchronize_device",
               [] { return without_gil([] { return gpu().synchronize_device(); }); });
    module.def("reset_device", [] { return without_gil(&runtime::reset_current_device); });
    module.def("memory_info", &memory_info);
    module.def("describe", &describe, nb::arg("device"));
    module.def("last_error", [] { return gpu().last_error(); });
    module.def("peek_at_last_error", [] { return gpu().peek_at_last_error(); });
    module.def(
        "error_name", [](status code) { return gpu().error_name(code); }, nb::arg("code"));
    module.def(
        "error_string", [](status code) { return gpu().error_string(code); }, nb::arg("code"));
    module.def(
        "synchronize_stream",
        [](std::uintptr_t handle) {
            return without_gil(
                [&] { return gpu().synchronize_stream(reinterpret_cast<void*>(handle)); });
        },
        nb::arg("handle"));
    module.def(
        "order_behind_default_stream",
        [](std::uintptr_t handle, int device) {
            return without_gil([&] {
                return runtime::order_behind_default_stream(reinterpret_cast<void*>(handle),
                                                            device);
            });
        },
        nb::arg("handle"), nb::arg("device"));
    bind_streams(module);
}

void bind_pygpu(nb::module_& module) {
    nb::module_ pygpu = module.def_submodule("pygpu");
    bind_pygpu_control(pygpu);
    bind_pygpu_memory(pygpu);
}

} // namespace barmap::python
