// SPDX-License-Identifier: MIT
#include "signals.hpp"

#include "arguments.hpp"
#include "held.hpp"
#include "own_memory.hpp"

#include <barmap/arena.hpp>
#include <barmap/counter.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

namespace nb = nanobind;

namespace barmap::python {
namespace {

using held_arena = held<arena>;

/// Makes a counter in the given arena, or in separate memory.
template <class Counter>
void make(held<Counter>* where, held_arena* given, int ordinal, std::uint64_t first) {
    constexpr std::size_t host_bytes =
        std::is_same_v<Counter, counter_to_cpu> ? sizeof(gpu::word) : 0;
    std::shared_ptr<arena> const memory = given ? given->shared() : nullptr;
    auto const make_one = [&] { // without the GIL
        return Counter(
            memory ? *memory : arena(opened_device(ordinal), sizeof(gpu::word), host_bytes), first);
    };
    new (where) held<Counter>("counter", make_one, &Counter::open_shared);
}

/// One that another process has shared.
template <class Counter>
void open(held<Counter>* where, int descriptor) {
    new (where) held<Counter>("counter", &Counter::open_shared, descriptor);
}

std::uint64_t word_of(gpu::word const* at) {
    return reinterpret_cast<std::uintptr_t>(at);
}
std::tuple<std::uint64_t> words_of(gpu::counter_to_gpu const& of) {
    return {word_of(of.value)};
}
std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> words_of(gpu::counter_to_cpu const& of) {
    return {word_of(of.value), word_of(of.arrived), of.first};
}

/// Does something that may wait for the driver, in no turn: these are the calls that may be made
/// at once.
template <class Thing, class Action>
auto at_once(held<Thing>& of, Action const& action) {
    std::shared_ptr<Thing> here = of.shared();
    released_gil const others_run;
    std::shared_ptr<Thing> const mine = std::move(here);
    return action(*mine);
}

sight sight_of(bool is_found) {
    return is_found ? sight::found : sight::nothing;
}

/// The common part of both directions.
template <class Counter>
auto bind_counter(nb::module_& module, char const* name) {
    using self = held<Counter>;
    return nb::class_<self, inheritable>(module, name)
        .def("__init__", &make<Counter>, nb::arg("arena").none(), nb::arg("device"),
             nb::arg("first"))
        .def("__init__", &open<Counter>, nb::kw_only(), nb::arg("descriptor"))
        .def("release", &self::release)
        .def_prop_ro("released", &self::is_released)
        .def_prop_ro("handle_words", [](self& of) { return words_of(of.shared()->handle()); })
        // For a thread that acts as a kernel, in tests.
        .def_prop_ro("_handle_for_thread",
                     [](self& of) { return words_of(of.shared()->handle_for_thread()); });
}

void bind_counters(nb::module_& module) {
    using to_gpu = held<counter_to_gpu>;
    using to_cpu = held<counter_to_cpu>;
    bind_counter<counter_to_gpu>(module, "CounterToGpu")
        .def(
            "advance",
            [](to_gpu& of, std::uint64_t to) {
                bool const is_ahead = of.in_turn(false, [to](counter_to_gpu& counter) {
                    if (static_cast<std::int64_t>(to - counter.value()) < 0)
                        return false;
                    counter.advance(to);
                    return true;
                });
                if (!is_ahead)
                    raise(PyExc_ValueError, "a counter only grows: it cannot go back to %llu",
                          static_cast<unsigned long long>(to));
            },
            nb::arg("to"))
        .def(
            "wait",
            [](to_gpu& of, std::uintptr_t stream, std::uint64_t at_least) {
                at_once(of, [=](counter_to_gpu& counter) {
                    counter.wait(stream_of(stream), at_least);
                });
            },
            nb::arg("stream"), nb::arg("at_least"))
        .def_prop_ro("value", called_in_turn<to_gpu, &counter_to_gpu::value>);
    bind_counter<counter_to_cpu>(module, "CounterToCpu")
        .def(
            "wait",
            [](to_cpu& of, std::uint64_t at_least, std::optional<double> seconds) {
                return of.wait(
                    seconds, [at_least](counter_to_cpu& counter, std::chrono::nanoseconds at_most) {
                        return sight_of(counter.wait_for(at_least, at_most));
                    });
            },
            nb::arg("at_least"), nb::arg("seconds").none())
        .def(
            "record",
            [](to_cpu& of, std::uintptr_t stream, std::uint64_t value) {
                at_once(of,
                        [=](counter_to_cpu& counter) { counter.record(stream_of(stream), value); });
            },
            nb::arg("stream"), nb::arg("value"))
        .def_prop_ro("value", [](to_cpu& of) { return of.shared()->value(); });
}

} // namespace

void bind_signals(nb::module_& module) {
    nb::class_<held_arena>(module, "Arena")
        .def(
            "__init__",
            [](held_arena* where, std::size_t gpu_bytes, std::size_t host_bytes, int ordinal) {
                new (where) held_arena(
                    "arena", [=] { return arena(opened_device(ordinal), gpu_bytes, host_bytes); });
            },
            nb::arg("gpu_nbytes"), nb::arg("host_nbytes"), nb::arg("device"))
        .def("release", &held_arena::release)
        .def_prop_ro("released", &held_arena::is_released);
    bind_counters(module);
}

} // namespace barmap::python
