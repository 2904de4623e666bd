// SPDX-License-Identifier: MIT
#include "rings.hpp"

#include "host_buffer.hpp"
#include "own_memory.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>

namespace nb = nanobind;

namespace barmap::python {

using detail::byte_ring_to_cpu;
using detail::byte_ring_to_gpu;

template <class Ring>
constexpr barmap_signal_kind kind_of =
    std::is_same_v<Ring, byte_ring_to_gpu> ? BARMAP_RING_TO_GPU : BARMAP_RING_TO_CPU;

template <class Ring>
typename held<Ring>::opener held_ring<Ring>::opener_of(std::size_t message_bytes) {
    return [message_bytes](int descriptor) {
        return Ring(detail::opened_signal::open_ring(descriptor, kind_of<Ring>, message_bytes));
    };
}

template <class Ring>
held_ring<Ring>::held_ring(std::size_t message_bytes, std::size_t slots, int ordinal)
    : held<Ring>(
          "ring", [&] { return Ring(opened_device(ordinal), message_bytes, slots); },
          opener_of(message_bytes)) {}

template <class Ring>
held_ring<Ring>::held_ring(std::size_t message_bytes, int descriptor)
    : held<Ring>("ring", opener_of(message_bytes), descriptor) {}

template <class Ring>
sight held_ring<Ring>::look(Ring& ring, std::chrono::nanoseconds at_most) noexcept {
    if (ring.wait_for(at_most))
        return sight::found;
    if (!ring.closed())
        return sight::nothing;
    // Messages from before the end are there by now.
    return ring.wait_for(std::chrono::nanoseconds(0)) ? sight::found : sight::over;
}

template <class Ring>
bool held_ring<Ring>::wait(std::optional<double> seconds) {
    return held<Ring>::wait(seconds, &held_ring::look);
}

namespace {

/// The words of a handle, as Python sees them.
using words = std::tuple<std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uint64_t>;

words words_of(gpu::ring_handle const& of) {
    auto const address = [](gpu::word const* at) { return reinterpret_cast<std::uintptr_t>(at); };
    return {address(of.slots), address(of.control), address(of.credits), of.mask};
}

/// The common part of both directions.
template <class Ring>
auto bind_ring(nb::module_& module, char const* name) {
    using self = held_ring<Ring>;
    return nb::class_<self, inheritable>(module, name)
        .def(nb::init<std::size_t, std::size_t, int>(), nb::arg("message_nbytes"), nb::arg("slots"),
             nb::arg("device"))
        .def(nb::init<std::size_t, int>(), nb::arg("message_nbytes"), nb::kw_only(),
             nb::arg("descriptor"))
        .def("release", &self::release)
        .def("wait", &self::wait, nb::arg("seconds").none())
        .def("close", called_in_turn<self, &Ring::close>)
        .def_prop_ro("released", &self::is_released)
        .def_prop_ro("depth", called_in_turn<self, &Ring::depth>)
        .def_prop_ro("slots", called_in_turn<self, &Ring::slots>)
        .def_prop_ro("number", called_in_turn<self, &Ring::number>)
        .def_prop_ro("closed", called_in_turn<self, &Ring::closed>)
        .def_prop_ro("handle_words",
                     [](self& of) {
                         return of.in_turn(false,
                                           [](Ring& ring) { return words_of(ring.handle()); });
                     })
        // For a thread that acts as a kernel, in tests.
        .def_prop_ro("_handle_for_thread", [](self& of) {
            return of.in_turn(false, [](Ring& ring) { return words_of(ring.handle_for_thread()); });
        });
}

/// Pushes a buffer of whole messages. @return how many there was room for
std::size_t push(held_ring<byte_ring_to_gpu>& to, buffer messages) {
    host_buffer const from(messages, PyBUF_SIMPLE);
    std::span<std::byte const> const bytes = from.bytes();
    return to.in_turn(!keeps_gil(copy_direction::to_gpu, bytes.size()),
                      [bytes](byte_ring_to_gpu& ring) { return ring.push_many(bytes); });
}

/// Pops as many messages as have arrived and fill a writable buffer. @return how many
std::size_t pop(held_ring<byte_ring_to_cpu>& from, buffer messages) {
    host_buffer const to(messages, PyBUF_WRITABLE);
    std::span<std::byte> const bytes = to.bytes();
    // Out of the CPU's own memory: as much of it is read in a microsecond as is written elsewhere.
    return from.in_turn(!keeps_gil(copy_direction::to_gpu, bytes.size()),
                        [bytes](byte_ring_to_cpu& ring) { return ring.pop_many(bytes); });
}

} // namespace

void bind_rings(nb::module_& module) {
    using to_gpu = held_ring<byte_ring_to_gpu>;
    bind_ring<byte_ring_to_gpu>(module, "RingToGpu")
        .def("push", &push, nb::arg("messages"))
        .def("flush", called_in_turn<to_gpu, &byte_ring_to_gpu::flush>);
    bind_ring<byte_ring_to_cpu>(module, "RingToCpu").def("pop", &pop, nb::arg("messages"));
}

} // namespace barmap::python
