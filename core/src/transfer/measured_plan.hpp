// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/contest.hpp"

#include <cstddef>
#include <span>

namespace barmap::copy {

/// The best routine for each size class and direction, measured on a mapping of otherwise unused
/// GPU memory. Overwrites the scratch. Takes a few milliseconds.
/// @param scratch at least 1 MiB, 4 KiB-aligned; a smaller one is measured as far as it goes
[[nodiscard]] copy_plan measure_plan(std::span<std::byte> scratch, cache_kind kind) noexcept;

/// The routine that this CPU prefers, for every size, or the one that BARMAP_COPY asks for: where
/// nothing can be measured. @throws as routine_forced_by_environment()
[[nodiscard]] copy_plan preferred_plan(cache_kind kind);

/// measure_plan() among these routines, the preferred one first; the CPU must support them all.
/// @pre 1 to 16 candidates
[[nodiscard]] copy_plan measure_plan_among(std::span<copy_routine const* const> candidates,
                                           std::span<std::byte> scratch, cache_kind kind,
                                           nanosecond_clock now = steady_nanoseconds) noexcept;

} // namespace barmap::copy
