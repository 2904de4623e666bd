// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/cpu/plan.hpp"

#include <span>

namespace barmap::copy {

/// Every routine of this build, the preferred one first; the last, "portable", needs nothing.
[[nodiscard]] std::span<copy_routine const> all_routines() noexcept;

/// Whether the CPU and the operating system have what a routine needs.
[[nodiscard]] bool supported(copy_routine const& routine) noexcept;

/// The routine called NAME, for a CPU of these features. @throws as find_routine(name)
[[nodiscard]] copy_routine const& find_routine(std::string_view name, cpu_features cpu);

/// Whether a routine is left out of the automatic choice, because it faults on memory that does not
/// take its instructions.
[[nodiscard]] bool only_when_asked_for(copy_routine const& routine) noexcept;

/// How to copy to ordinary memory without reading it into the caches first, by streaming stores;
/// null on a CPU for which no routine does. It contains no fence.
[[nodiscard]] auto streaming_store() noexcept -> decltype(copy_routine::store);

/// Sets how a plan of its kind posts words and lines. The CPU decides that, and not the routine:
/// direct stores if it has them, since a doorbell should leave at once.
void choose_posts(copy_plan& plan, cpu_features cpu) noexcept;

} // namespace barmap::copy
