// SPDX-License-Identifier: MIT
#pragma once

#include "base/calls.hpp"
#include "driver/cuda/gpu.hpp"

#include <chrono>
#include <cstddef>

/// How long an engine's copies may take before they are late.
namespace barmap::engine {

/// The clock by which an engine is late.
struct device_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<device_clock>;
    static constexpr bool is_steady = true;
    static time_point now() { return time_point(duration(os::current().device_time())); }
};

/// Beside what the bytes take. A copy takes microseconds; where another process uses the engine as
/// well, its time slice more, which is a millisecond.
inline constexpr std::chrono::milliseconds usual_patience{50};

[[nodiscard]] inline std::chrono::milliseconds patience_with(cuda::gpu const& which) noexcept {
    // The copies of a simulated GPU wait for the same CPUs as all threads of the machine.
    return which.simulated ? std::chrono::milliseconds(600) : usual_patience;
}

/// What the bytes may take.
[[nodiscard]] constexpr std::chrono::microseconds longest_time_of(std::size_t bytes) noexcept {
    constexpr std::size_t bytes_per_us = 200; // the slowest link that is still PCIe moves more
    constexpr std::size_t most = std::size_t{1} << 50; // of which no sum is too long for a clock
    return std::chrono::microseconds((bytes < most ? bytes : most) / bytes_per_us);
}

} // namespace barmap::engine
