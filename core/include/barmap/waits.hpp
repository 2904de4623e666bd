// SPDX-License-Identifier: MIT
/// How long calls wait, from the numbers that programs give.
#pragma once

#include <barmap/export.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {
namespace detail {

/// A year: longer waits are cut to it, since their deadline would overflow the clock.
inline constexpr std::chrono::nanoseconds longest_wait = std::chrono::hours(24 * 365);

/// A number of nanoseconds, as the C interfaces take it.
constexpr std::chrono::nanoseconds wait_of_ns(std::uint64_t nanoseconds) noexcept {
    return std::chrono::nanoseconds(std::min<std::uint64_t>(nanoseconds, longest_wait.count()));
}

/// The reverse. Less than 0 is 0.
constexpr std::uint64_t ns_of_wait(std::chrono::nanoseconds at_most) noexcept {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, at_most.count()));
}

/// A number of seconds, as Python gives it. Less than 0, or no number, is 0.
constexpr std::chrono::nanoseconds wait_of_seconds(double seconds) noexcept {
    if (!(seconds > 0))
        return {};
    if (seconds >= std::chrono::duration<double>(longest_wait).count())
        return longest_wait;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(seconds));
}

/// When a wait ends that begins now. Less than 0 is 0.
inline std::chrono::steady_clock::time_point end_of_wait(std::chrono::nanoseconds at_most) noexcept {
    return std::chrono::steady_clock::now() +
           std::clamp(at_most, std::chrono::nanoseconds(0), longest_wait);
}

} // namespace detail
} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
