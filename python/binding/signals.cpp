// SPDX-License-Identifier: MIT
#include "signals.hpp"

#include "held.hpp"
#include "host_buffer.hpp"

#include <barmap/arena.hpp>
#include <barmap/mailbox.hpp>
#include <barmap/signal.hpp>

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

namespace nb = nanobind;

namespace barmap::python {
namespace {

using held_arena = held<arena>;

/// How much of an arena something takes.
struct need {
    std::size_t gpu = 0, host = 0;
};

constexpr need a_word_of_each{sizeof(gpu::word), sizeof(gpu::word)};
constexpr std::size_t largest_value = std::size_t{1} << 20; // more is refused when it is made

need of_mailbox_to_gpu(std::size_t value_bytes) {
    using slots = detail::slots_to_gpu;
    return {gpu::mailbox_slots * slots::lines_of(std::min(value_bytes, largest_value)) *
                slots::line_bytes,
            0};
}
need of_mailbox_to_cpu(std::size_t value_bytes) {
    return {sizeof(gpu::word),
            gpu::mailbox_slots * detail::slot_to_cpu_bytes(std::min(value_bytes, largest_value))};
}

/// The memory that was given, or of its own.
class memory_for {
public:
    memory_for(held_arena* given, int ordinal, need much)
        : given_(given ? given->shared() : nullptr), ordinal_(ordinal), much_(much) {}
    /// Needs no GIL.
    [[nodiscard]] arena get() const {
        return given_ ? *given_ : arena(opened_device(ordinal_), much_.gpu, much_.host);
    }

private:
    std::shared_ptr<arena> given_;
    int ordinal_;
    need much_;
};

template <class Thing, class... Arguments>
void make(held<Thing>* where, char const* what, memory_for const& memory, Arguments... arguments) {
    new (where) held<Thing>(what, [&] { return Thing(memory.get(), arguments...); });
}

std::uint64_t word_of(gpu::word const* at) {
    return reinterpret_cast<std::uintptr_t>(at);
}
nb::tuple words_of(gpu::counter_to_gpu const& of) {
    return nb::make_tuple(word_of(of.value));
}
nb::tuple words_of(gpu::counter_to_cpu const& of) {
    return nb::make_tuple(word_of(of.value), word_of(of.arrived), std::uint64_t{of.first});
}
nb::tuple words_of(gpu::mailbox_handle const& of) {
    return nb::make_tuple(word_of(of.slots), word_of(of.version), std::uint64_t{of.first});
}

/// Does something that may wait for the driver, in no turn: these are the calls that may be made
/// at once.
template <class Thing, class Action>
auto at_once(held<Thing> const& of, Action const& action) {
    std::shared_ptr<Thing> here = of.shared();
    released_gil const others_run;
    std::shared_ptr<Thing> const mine = std::move(here);
    return action(*mine);
}

void* stream_of(std::uintptr_t handle) {
    return reinterpret_cast<void*>(handle);
}

sight sight_of(bool is_found) {
    return is_found ? sight::found : sight::nothing;
}

/// What all of them have.
template <class Thing>
nb::class_<held<Thing>> bind_signal(nb::module_& module, char const* name) {
    using self = held<Thing>;
    return nb::class_<self>(module, name)
        .def("release", &self::release)
        .def_prop_ro("released", &self::is_released)
        .def_prop_ro("handle_words", [](self& of) { return words_of(of.shared()->handle()); })
        // For a thread that stands for a kernel, in tests.
        .def_prop_ro("_handle_for_thread",
                     [](self& of) { return words_of(of.shared()->handle_for_thread()); });
}

/// Waits as long as `wait_for(at_most)` of the thing finds nothing.
template <class Thing>
bool wait(held<Thing>& of, std::optional<double> seconds) {
    return of.wait(seconds, [](Thing& thing, std::chrono::nanoseconds at_most) {
        return sight_of(thing.wait_for(at_most));
    });
}

void bind_counters(nb::module_& module) {
    using to_gpu = held<counter_to_gpu>;
    using to_cpu = held<counter_to_cpu>;
    bind_signal<counter_to_gpu>(module, "CounterToGpu")
        .def(
            "__init__",
            [](to_gpu* where, held_arena* memory, int ordinal, std::uint64_t first) {
                make(where, "counter", memory_for(memory, ordinal, {sizeof(gpu::word), 0}), first);
            },
            nb::arg("arena").none(), nb::arg("device"), nb::arg("first"))
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
                    raise(PyExc_ValueError, "a counter does not go back, as it would to %llu",
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
        .def_prop_ro("value", [](to_gpu& of) {
            return of.in_turn(false, [](counter_to_gpu& counter) { return counter.value(); });
        });
    bind_signal<counter_to_cpu>(module, "CounterToCpu")
        .def(
            "__init__",
            [](to_cpu* where, held_arena* memory, int ordinal, std::uint64_t first) {
                make(where, "counter", memory_for(memory, ordinal, a_word_of_each), first);
            },
            nb::arg("arena").none(), nb::arg("device"), nb::arg("first"))
        .def(
            "wait",
            [](to_cpu& of, std::uint64_t at_least, std::optional<double> seconds) {
                return of.wait(seconds, [at_least](counter_to_cpu& counter,
                                                   std::chrono::nanoseconds at_most) {
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

/// The bytes of a value. @throws nanobind::python_error for another size
std::span<std::byte> value_in(host_buffer const& buffer, std::size_t value_bytes) {
    if (buffer.bytes().size() != value_bytes)
        raise(PyExc_ValueError, "the buffer has %zu bytes, and a value has %zu",
              buffer.bytes().size(), value_bytes);
    return buffer.bytes();
}

void bind_mailboxes(nb::module_& module) {
    using to_gpu = held<byte_mailbox_to_gpu>;
    using to_cpu = held<byte_mailbox_to_cpu>;
    bind_signal<byte_mailbox_to_gpu>(module, "MailboxToGpu")
        .def(
            "__init__",
            [](to_gpu* where, held_arena* memory, int ordinal, std::size_t value_bytes) {
                make(where, "mailbox", memory_for(memory, ordinal, of_mailbox_to_gpu(value_bytes)),
                     value_bytes);
            },
            nb::arg("arena").none(), nb::arg("device"), nb::arg("value_nbytes"))
        .def(
            "write",
            [](to_gpu& of, nb::handle value) {
                host_buffer const from(value, PyBUF_SIMPLE);
                std::span<std::byte const> const bytes =
                    value_in(from, of.shared()->value_bytes());
                of.in_turn(bytes.size() > written_with_gil,
                           [bytes](byte_mailbox_to_gpu& mailbox) { mailbox.write(bytes); });
            },
            nb::arg("value"))
        .def_prop_ro("version", [](to_gpu& of) {
            return of.in_turn(false, [](byte_mailbox_to_gpu& mailbox) { return mailbox.version(); });
        });
    bind_signal<byte_mailbox_to_cpu>(module, "MailboxToCpu")
        .def(
            "__init__",
            [](to_cpu* where, held_arena* memory, int ordinal, std::size_t value_bytes) {
                make(where, "mailbox", memory_for(memory, ordinal, of_mailbox_to_cpu(value_bytes)),
                     value_bytes);
            },
            nb::arg("arena").none(), nb::arg("device"), nb::arg("value_nbytes"))
        .def(
            "read",
            [](to_cpu& of, nb::handle value) {
                host_buffer const to(value, PyBUF_WRITABLE);
                std::span<std::byte> const bytes = value_in(to, of.shared()->value_bytes());
                return of.in_turn(bytes.size() > written_with_gil,
                                  [bytes](byte_mailbox_to_cpu& mailbox) {
                                      return mailbox.read(bytes);
                                  });
            },
            nb::arg("value"))
        .def("wait", &wait<byte_mailbox_to_cpu>, nb::arg("seconds").none())
        .def_prop_ro("version", [](to_cpu& of) {
            return of.in_turn(false, [](byte_mailbox_to_cpu& mailbox) { return mailbox.version(); });
        });
}

} // namespace

void bind_signals(nb::module_& module) {
    nb::class_<held_arena>(module, "Arena")
        .def(
            "__init__",
            [](held_arena* where, std::size_t gpu_bytes, std::size_t host_bytes, int ordinal) {
                new (where) held_arena("arena", [=] {
                    return arena(opened_device(ordinal), gpu_bytes, host_bytes);
                });
            },
            nb::arg("gpu_nbytes"), nb::arg("host_nbytes"), nb::arg("device"))
        .def("release", &held_arena::release)
        .def_prop_ro("released", &held_arena::is_released);
    bind_counters(module);
    bind_mailboxes(module);
}

} // namespace barmap::python
