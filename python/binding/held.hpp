// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"
#include "inheritable.hpp"
#include "released_gil.hpp"

#include <barmap/error.hpp>
#include <barmap/waits.hpp>

#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace barmap::python {

/// The result of a look at something that another side changes. `over`: it will never come.
enum class sight { nothing, found, over };

/// Something in memory that CPU and GPU share, as Python holds it. The memory goes with release(),
/// or when the last call that began before has ended. Thread rule: members may be called at once
/// and need the GIL; they take turns. Each of them but release() throws nanobind::python_error
/// after it, and error errc::forked_child in a child that cannot open the thing.
template <class Thing>
class held : public inheritable {
public:
    /// Makes the thing of a descriptor that share() returned.
    using opener = std::function<Thing(int descriptor)>;

    /// A thing that cannot be shared. @param what as messages call it
    /// @param make returns the thing, without the GIL
    /// @param ended what it is after release(), as messages say
    template <class Make>
    held(char const* what, Make const& make, char const* ended = "released")
        : what_(what), ended_(ended), state_(made(make)) {}
    /// A thing that can be shared. @param open as make
    template <class Make>
    held(char const* what, Make const& make, opener open)
        : inheritable([this] { return share(); },
                      [this, open](int descriptor) {
                          std::shared_ptr<state> opened = made([&] { return open(descriptor); });
                          if (state_) // not released meanwhile
                              state_ = std::move(opened);
                      }),
          what_(what), state_(made(make)) {}
    /// A thing that another process has shared.
    held(char const* what, opener open, int descriptor)
        : held(
              what, [&] { return open(descriptor); }, open) {}
    ~held() { release(); }
    held(held const&) = delete;
    held& operator=(held const&) = delete;

    /// Frees the memory, which waits for the GPU. Idempotent.
    void release() noexcept {
        if (!state_)
            return;
        std::shared_ptr<state> gone = std::move(state_); // with the GIL: no call begins meanwhile
        state_.reset();
        leave();
        // CUDA may wait for a kernel that another thread is about to answer.
        released_gil const others_run;
        gone.reset();
    }
    [[nodiscard]] bool is_released() const noexcept { return !state_; }

    /// Does something with the thing when no other call does.
    /// @param is_long lets other threads run meanwhile
    template <class Action>
    auto in_turn(bool is_long, Action const& action) {
        std::shared_ptr<state> here = usable();
        if (!is_long) {
            std::unique_lock const hold(here->turn, std::try_to_lock);
            if (hold.owns_lock())
                return action(here->thing);
        }
        released_gil const others_run;
        std::shared_ptr<state> const mine =
            std::move(here); // maybe the last, which frees the memory
        std::lock_guard const hold(mine->turn);
        return action(mine->thing);
    }

    /// Waits without the GIL, and looks at signals meanwhile.
    /// @param seconds nothing: as long as it takes
    /// @param look `sight look(Thing&, std::chrono::nanoseconds at_most) noexcept`
    /// @return whether it was found
    template <class Look>
    [[nodiscard]] bool wait(std::optional<double> seconds, Look const& look);

    /// A descriptor for other processes.
    [[nodiscard]] int share() {
        return in_turn(true, [](Thing& thing) { return thing.share(); });
    }

    /// Keeps the thing's memory, also after release().
    [[nodiscard]] std::shared_ptr<Thing> shared() {
        std::shared_ptr<state> const here = usable();
        return {here, &here->thing};
    }

private:
    struct state {
        template <class Make>
        explicit state(Make const& make) : thing(make()) {}

        Thing thing;
        std::mutex turn;
    };

    template <class Make>
    [[nodiscard]] static std::shared_ptr<state> made(Make const& make) {
        released_gil const others_run;
        return std::make_shared<state>(make);
    }

    void expect_unreleased() const {
        if (!state_)
            raise(PyExc_ValueError, "this %s is %s", what_, ended_);
    }
    [[nodiscard]] std::shared_ptr<state> usable() {
        expect_unreleased();
        expect_here(what_, "",
                    "make a new one in a process that is started with spawn instead of fork");
        expect_unreleased(); // also by another thread meanwhile
        return state_;
    }

    char const* what_;
    char const* ended_ = "released";
    std::shared_ptr<state> state_;
};

/// A method of a Python class that calls a member function of the thing in turn.
/// @tparam IsLong as in_turn()
template <class Self, auto Member, bool IsLong = false>
inline constexpr auto called_in_turn =
    [](Self& of) { return of.in_turn(IsLong, [](auto& thing) { return (thing.*Member)(); }); };

template <class Thing>
template <class Look>
bool held<Thing>::wait(std::optional<double> seconds, Look const& look) {
    using namespace std::chrono;
    using clock = steady_clock;
    constexpr nanoseconds a_turn = microseconds(20), between_signals = milliseconds(50);
    // Longer waits are left to the kernel between the looks, so that no core is kept busy.
    constexpr nanoseconds busy = milliseconds(1), pause = microseconds(100);
    clock::time_point const begin = clock::now();
    clock::time_point const end = begin + (seconds ? barmap::detail::wait_of_seconds(*seconds)
                                                   : barmap::detail::longest_wait);
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
                        look(mine->thing,
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
            throw nanobind::python_error();
    }
}

} // namespace barmap::python
