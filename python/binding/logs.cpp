// SPDX-License-Identifier: MIT
#include "logs.hpp"

#include "held.hpp"
#include "host_buffer.hpp"
#include "own_memory.hpp"

#include <barmap/log.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <tuple>

namespace nb = nanobind;

namespace barmap::python {
namespace {

/// A log that Python holds.
class held_log : public held<log_ring> {
public:
    held_log(std::size_t slots, int ordinal)
        : held(
              "log", [&] { return log_ring(opened_device(ordinal), slots); },
              &log_ring::open_shared) {}
    explicit held_log(int descriptor) : held("log", &log_ring::open_shared, descriptor) {}

    bool wait(std::optional<double> seconds) {
        return held::wait(seconds, [](log_ring& log, std::chrono::nanoseconds at_most) noexcept {
            return log.wait_for(at_most) ? sight::found : sight::nothing;
        });
    }
    /// Reads as many records as have arrived and fill a writable buffer. @return how many
    std::size_t read(buffer records) {
        host_buffer const to(records, PyBUF_WRITABLE);
        std::span<std::byte> const bytes = to.bytes();
        return in_turn(true, [bytes](log_ring& log) {
            return log.read(
                {reinterpret_cast<log_record*>(bytes.data()), bytes.size() / sizeof(log_record)});
        });
    }
};

/// The words of a handle, as Python sees them.
std::tuple<std::uintptr_t, std::uintptr_t, std::uint64_t, std::uint64_t>
words_of(gpu::log_ring const& of) {
    return {reinterpret_cast<std::uintptr_t>(of.records), reinterpret_cast<std::uintptr_t>(of.next),
            of.mask, of.shift};
}

} // namespace

void bind_logs(nb::module_& module) {
    nb::class_<held_log, inheritable>(module, "LogRing")
        .def(nb::init<std::size_t, int>(), nb::arg("slots"), nb::arg("device"))
        .def(nb::init<int>(), nb::kw_only(), nb::arg("descriptor"))
        .def("read", &held_log::read, nb::arg("records"))
        .def("release", &held_log::release)
        .def("wait", &held_log::wait, nb::arg("seconds").none())
        .def_prop_ro("released", &held_log::is_released)
        .def_prop_ro("lost", called_in_turn<held_log, &log_ring::lost>)
        .def_prop_ro("slots", called_in_turn<held_log, &log_ring::slots>)
        .def_prop_ro("handle_words",
                     [](held_log& of) {
                         return of.in_turn(false,
                                           [](log_ring& log) { return words_of(log.handle()); });
                     })
        // For a thread that acts as a kernel, in tests.
        .def_prop_ro("_handle_for_thread", [](held_log& of) {
            return of.in_turn(false,
                              [](log_ring& log) { return words_of(log.handle_for_thread()); });
        });
}

} // namespace barmap::python
