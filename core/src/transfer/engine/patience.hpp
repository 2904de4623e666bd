// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/gpu.hpp"
#include "system/calls.hpp"

#include <chrono>
#include <cstddef>

/// How long an engine's copies may take before they are late.
namespace barmap::engine {

/// The clock for an engine's deadlines.
struct device_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<device_clock>;
    static constexpr bool is_steady = true;
    static time_point now() { return time_point(duration(os::current().device_time())); }
};

/// Added to the time for the bytes. A copy takes microseconds, and a time slice of a millisecond
/// more if another process uses the engine.
inline constexpr std::chrono::milliseconds usual_patience{50};

[[nodiscard]] inline std::chrono::milliseconds patience_with(cuda::gpu const& which) noexcept {
    // A simulated GPU competes for the CPUs with all threads of the machine.
    return which.simulated ? std::chrono::milliseconds(600) : usual_patience;
}

[[nodiscard]] constexpr std::chrono::microseconds longest_time_of(std::size_t bytes) noexcept {
    constexpr std::size_t bytes_per_us = 200;          // below the slowest PCIe link
    constexpr std::size_t most = std::size_t{1} << 50; // keeps sums of times in a clock's range
    return std::chrono::microseconds((bytes < most ? bytes : most) / bytes_per_us);
}

} // namespace barmap::engine
