// SPDX-License-Identifier: MIT
#include "rings.hpp"

#include "errors.hpp"
#include "host_buffer.hpp"
#include "own_memory.hpp"
#include "released_gil.hpp"

#include <barmap/error.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

namespace nb = nanobind;

namespace barmap::python {

template <class Ring>
struct held_ring<Ring>::state {
    state(device const& gpu, std::size_t message_bytes, std::size_t slots)
        : ring(gpu, message_bytes, slots) {}

    Ring ring;
    std::mutex turn;
    unsigned const generation = fork_generation();
};

template <class Ring>
held_ring<Ring>::held_ring(std::size_t message_bytes, std::size_t slots, int ordinal) {
    released_gil const others_run;
    state_ = std::make_shared<state>(opened_device(ordinal), message_bytes, slots);
}

template <class Ring>
held_ring<Ring>::~held_ring() {
    release();
}

template <class Ring>
void held_ring<Ring>::release() noexcept {
    if (!state_)
        return;
    std::shared_ptr<state> gone = std::move(state_); // with the GIL: no call begins meanwhile
    state_.reset();
    // CUDA may wait for a kernel that another thread is about to answer.
    released_gil const others_run;
    gone.reset();
}

template <class Ring>
auto held_ring<Ring>::usable() const -> std::shared_ptr<state> {
    if (!state_)
        raise(PyExc_ValueError, "this ring is released");
    if (state_->generation != fork_generation())
        throw error(errc::forked_child, "use a ring", "",
                    "make a new one in a process that is started with spawn instead of fork");
    return state_;
}

template <class Ring>
template <class Action>
auto held_ring<Ring>::in_turn(bool is_long, Action const& action) {
    std::shared_ptr<state> here = usable();
    if (!is_long) {
        std::unique_lock const hold(here->turn, std::try_to_lock);
        if (hold.owns_lock())
            return action(here->ring);
    }
    released_gil const others_run;
    std::shared_ptr<state> const mine = std::move(here); // maybe the last, which frees the memory
    std::lock_guard const hold(mine->turn);
    return action(mine->ring);
}

template <class Ring>
auto held_ring<Ring>::look(Ring& ring, std::chrono::nanoseconds at_most) noexcept -> sight {
    if (ring.wait_for(at_most))
        return sight::found;
    if (!ring.closed())
        return sight::nothing;
    // What came before the end is there by now.
    return ring.wait_for(std::chrono::nanoseconds(0)) ? sight::found : sight::closed;
}

template <class Ring>
bool held_ring<Ring>::wait(std::optional<double> seconds) {
    using namespace std::chrono;
    using clock = steady_clock;
    constexpr duration<double> longest = hours(24 * 365);
    constexpr nanoseconds a_turn = microseconds(20), between_signals = milliseconds(50);
    // Longer waits are left to the kernel between the looks, so that no core is kept busy.
    constexpr nanoseconds busy = milliseconds(1), pause = microseconds(100);
    clock::time_point const begin = clock::now();
    clock::time_point const end =
        begin +
        duration_cast<clock::duration>(std::min(duration<double>(seconds.value_or(1e18)), longest));
    for (;;) {
        clock::time_point const slice_end = std::min(end, clock::now() + between_signals);
        std::shared_ptr<state> here = usable();
        sight found = sight::nothing;
        {
            released_gil const others_run;
            std::shared_ptr<state> const mine = std::move(here);
            for (;;) {
                clock::time_point const now = clock::now();
                bool const is_busy = now - begin < busy;
                {
                    std::lock_guard const hold(mine->turn);
                    found =
                        look(mine->ring,
                             is_busy ? std::clamp<nanoseconds>(end - now, nanoseconds(0), a_turn)
                                     : nanoseconds(0));
                }
                if (found != sight::nothing || clock::now() >= slice_end)
                    break;
                if (is_busy)
                    std::this_thread::yield(); // others have their turn
                else
                    std::this_thread::sleep_for(std::min<nanoseconds>(pause, slice_end - now));
            }
        }
        if (found != sight::nothing)
            return found == sight::found;
        if (clock::now() >= end)
            return false;
        if (PyErr_CheckSignals() != 0)
            throw nb::python_error();
    }
}

namespace {

/// The words of a handle, as Python sees them.
using words = std::tuple<std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uint64_t>;

words words_of(gpu::ring_handle const& of) {
    auto const address = [](gpu::word const* at) { return reinterpret_cast<std::uintptr_t>(at); };
    return {address(of.slots), address(of.control), address(of.credits), of.mask};
}

/// What both directions have.
template <class Ring>
nb::class_<held_ring<Ring>> bind_ring(nb::module_& module, char const* name) {
    using self = held_ring<Ring>;
    return nb::class_<self>(module, name)
        .def(nb::init<std::size_t, std::size_t, int>(), nb::arg("message_nbytes"), nb::arg("slots"),
             nb::arg("device"))
        .def("release", &self::release)
        .def("wait", &self::wait, nb::arg("seconds").none())
        .def("close", [](self& of) { of.in_turn(false, [](Ring& ring) { ring.close(); }); })
        .def_prop_ro("released", &self::is_released)
        .def_prop_ro(
            "depth",
            [](self& of) { return of.in_turn(false, [](Ring& ring) { return ring.depth(); }); })
        .def_prop_ro(
            "number",
            [](self& of) { return of.in_turn(false, [](Ring& ring) { return ring.number(); }); })
        .def_prop_ro(
            "closed",
            [](self& of) { return of.in_turn(false, [](Ring& ring) { return ring.closed(); }); })
        .def_prop_ro("handle_words",
                     [](self& of) {
                         return of.in_turn(false,
                                           [](Ring& ring) { return words_of(ring.handle()); });
                     })
        // For a thread that stands for a kernel, in tests.
        .def_prop_ro("_handle_for_thread", [](self& of) {
            return of.in_turn(false, [](Ring& ring) { return words_of(ring.handle_for_thread()); });
        });
}

/// Pushes a buffer of whole messages. @return how many there was room for
std::size_t push(held_ring<byte_ring_to_gpu>& to, nb::handle messages) {
    host_buffer const from(messages, PyBUF_SIMPLE);
    std::span<std::byte const> const bytes = from.bytes();
    return to.in_turn(bytes.size() > written_with_gil,
                      [bytes](byte_ring_to_gpu& ring) { return ring.push_many(bytes); });
}

/// Pops as many messages as have arrived and fill a writable buffer. @return how many
std::size_t pop(held_ring<byte_ring_to_cpu>& from, nb::handle messages) {
    host_buffer const to(messages, PyBUF_WRITABLE);
    std::span<std::byte> const bytes = to.bytes();
    // Out of the CPU's own memory: as much of it is read in a microsecond as is written elsewhere.
    return from.in_turn(bytes.size() > written_with_gil,
                        [bytes](byte_ring_to_cpu& ring) { return ring.pop_many(bytes); });
}

} // namespace

void bind_rings(nb::module_& module) {
    using to_gpu = held_ring<byte_ring_to_gpu>;
    bind_ring<byte_ring_to_gpu>(module, "RingToGpu")
        .def("push", &push, nb::arg("messages"))
        .def("flush",
             [](to_gpu& of) { of.in_turn(false, [](byte_ring_to_gpu& ring) { ring.flush(); }); });
    bind_ring<byte_ring_to_cpu>(module, "RingToCpu").def("pop", &pop, nb::arg("messages"));
}

} // namespace barmap::python
