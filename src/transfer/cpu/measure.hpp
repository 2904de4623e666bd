// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/cpu/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace barmap::copy {

/// Which of several times wins: the first that no other beats by more than the noise (2 %).
/// @param times one per candidate, the preferred candidate first; not empty
[[nodiscard]] std::size_t prefer(std::span<double const> times) noexcept;

/// Nanoseconds since some moment; a test may make them up.
using nanosecond_clock = std::int64_t (*)() noexcept;
[[nodiscard]] std::int64_t steady_nanoseconds() noexcept;

/// measure_plan() among these routines, the preferred one first; the CPU must support them all.
/// @pre 1 to 16 candidates
[[nodiscard]] copy_plan measure_plan_among(std::span<copy_routine const* const> candidates,
                                           std::span<std::byte> scratch, cache_kind kind,
                                           nanosecond_clock now = steady_nanoseconds) noexcept;

} // namespace barmap::copy
