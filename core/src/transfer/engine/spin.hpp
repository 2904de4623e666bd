// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/engine/engine.hpp"
#include "transfer/engine/patience.hpp"

#include <barmap/copy.hpp>

#include <chrono>
#include <thread>

namespace barmap::engine {

enum class copy_outcome {
    done,
    late,  ///< the deadline has passed
    failed ///< the engine has stopped: no later submission will be done
};

/// Spins until a condition holds; after some 3,300 polls it lets other threads run now and then.
/// @param has_failed called now and then
/// @param until on the clock of the device or of the caller
/// @return done if the condition holds, even after a failure or the deadline
template <class Condition, class Failure, class Clock>
copy_outcome spin(Condition const& is_met, Failure const& has_failed,
                  std::chrono::time_point<Clock, typename Clock::duration> until) noexcept {
    // Most copies end within a few microseconds; a pause takes up to 70 ns and so delays the poll.
    constexpr int eager = 2000, looks = 64;
    // A copy that takes 100 us may wait for a thread that has no processor: the one that feeds the
    // engine, or one of a simulated GPU.
    constexpr unsigned rounds_alone = 20;
    for (int i = 0; i < eager; ++i)
        if (is_met())
            return copy_outcome::done;
    for (unsigned round = 0;; ++round) {
        for (int i = 0; i < looks; ++i) {
            if (is_met())
                return copy_outcome::done;
            detail::pause();
        }
        if (round >= rounds_alone)
            std::this_thread::yield();
        if (has_failed())
            return is_met() ? copy_outcome::done : copy_outcome::failed;
        if (Clock::now() > until)
            return is_met() ? copy_outcome::done : copy_outcome::late;
    }
}

/// Spins until a submission is done.
inline copy_outcome wait(copy_engine& by, ticket number, device_clock::time_point until) noexcept {
    state now = state::in_flight;
    copy_outcome const result = spin(
        [&] {
            now = by.poll(number);
            return now != state::in_flight;
        },
        [] { return false; }, until);
    return result == copy_outcome::done && now != state::done ? copy_outcome::failed : result;
}

} // namespace barmap::engine
