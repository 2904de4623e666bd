// SPDX-License-Identifier: MIT
#include "kernel_queues.hpp"

#include "arguments.hpp"
#include "own_memory.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace nb = nanobind;

namespace barmap::python {

held_kernel_queue::held_kernel_queue(int ordinal, bool is_shared, bool or_rung_by_cpu)
    : held(
          "KernelQueue",
          [&] {
              return kernel_queue(opened_device(ordinal), {is_shared, or_rung_by_cpu});
          },
          "closed") {}

void held_kernel_queue::submit(std::uintptr_t pieces, std::uintptr_t count, std::size_t most,
                               std::int64_t at_most_ns, std::uintptr_t stream) {
    std::shared_ptr<kernel_queue> here = shared();
    if (most == 0)
        return;
    // A stream that has been given much keeps its callers: so this takes no turn.
    released_gil const others_run;
    std::shared_ptr<kernel_queue> const mine = std::move(here);
    mine->enqueue(reinterpret_cast<copy_piece const*>(pieces),
                  reinterpret_cast<std::uint64_t const*>(count), most,
                  std::chrono::nanoseconds(at_most_ns), stream_of(stream));
}

namespace {

/// The bytes of what kernels take.
nb::bytes bytes_of(gpu::kernel_queue const& handle) {
    return nb::bytes(&handle, sizeof handle);
}

} // namespace

void bind_kernel_queues(nb::module_& module) {
    using self = held_kernel_queue;
    nb::class_<self>(module, "KernelQueue")
        .def(nb::init<int, bool, bool>(), nb::arg("device"), nb::arg("shared"),
             nb::arg("or_rung_by_cpu"))
        .def("submit", &self::submit, nb::arg("pieces"), nb::arg("count"), nb::arg("most"),
             nb::arg("at_most_ns"), nb::arg("stream"))
        .def("check", called_in_turn<self, &kernel_queue::check, true>)
        .def("restart", called_in_turn<self, &kernel_queue::restart, true>)
        .def("release", &self::release)
        .def_prop_ro("released", &self::is_released)
        .def_prop_ro("rung_by_cpu", called_in_turn<self, &kernel_queue::is_rung_by_cpu, true>)
        .def_prop_ro("handle",
                     [](self& of) {
                         return bytes_of(
                             of.in_turn(true, [](kernel_queue& queue) { return queue.handle(); }));
                     })
        .def_prop_ro("handle_for_thread", [](self& of) {
            return bytes_of(
                of.in_turn(true, [](kernel_queue& queue) { return queue.handle_for_thread(); }));
        });
    module.def(
        "gpu_of_address",
        [](std::uintptr_t address) {
            released_gil const others_run;
            return device_that_owns(address).ordinal();
        },
        nb::arg("address"));
}

} // namespace barmap::python
