// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/engine/engine.hpp"

#include <barmap/copy.hpp>

namespace barmap::engine {

/// Waits for a condition, without giving up the CPU.
/// @param until by the device's clock if it may be late, or by the caller's
/// @param has_failed asked now and then. @return done if the condition is met, whatever else is
template <class Condition, class Failure, class Clock>
outcome spin(Condition const& is_met, Failure const& has_failed,
             std::chrono::time_point<Clock, typename Clock::duration> until) noexcept {
    // Most copies end within a few microseconds; a pause is up to 70 ns, by which the end would be
    // seen later.
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

} // namespace barmap::engine
