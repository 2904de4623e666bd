// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/engine/engine.hpp"
#include "transfer/engine/patience.hpp"

#include <barmap/copy.hpp>

#include <chrono>

namespace barmap::engine {

enum class outcome {
    done,
    late,  ///< the deadline has passed
    failed ///< the engine has stopped: no later submission will be done
};

/// Spins until a condition holds.
/// @param has_failed called now and then
/// @param until on the clock of the device or of the caller
/// @return done if the condition holds, even after a failure or the deadline
template <class Condition, class Failure, class Clock>
outcome spin(Condition const& is_met, Failure const& has_failed,
             std::chrono::time_point<Clock, typename Clock::duration> until) noexcept {
    // Most copies end within a few microseconds; a pause takes up to 70 ns and so delays the poll.
    constexpr int eager = 2000, looks = 64;
    for (int i = 0; i < eager; ++i)
        if (is_met())
            return outcome::done;
    for (;;) {
        for (int i = 0; i < looks; ++i) {
            if (is_met())
                return outcome::done;
            detail::pause();
        }
        if (has_failed())
            return is_met() ? outcome::done : outcome::failed;
        if (Clock::now() > until)
            return is_met() ? outcome::done : outcome::late;
    }
}

/// Spins until a submission is done.
inline outcome wait(copy_engine& by, ticket number, device_clock::time_point until) noexcept {
    state now = state::in_flight;
    outcome const result = spin(
        [&] {
            now = by.poll(number);
            return now != state::in_flight;
        },
        [] { return false; }, until);
    return result == outcome::done && now != state::done ? outcome::failed : result;
}

} // namespace barmap::engine
