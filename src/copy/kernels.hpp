// SPDX-License-Identifier: MIT
#pragma once

#include "copy/plan.hpp"

#include <span>

namespace barmap::copy {

/// Every kernel of this build, the preferred one first; the last, "portable", needs nothing.
[[nodiscard]] std::span<copy_kernel const> all_kernels() noexcept;

/// Whether the CPU and the operating system have what a kernel needs.
[[nodiscard]] bool supported(copy_kernel const& kernel) noexcept;

/// Whether a kernel is left out of the automatic choice, because it faults on memory that does not
/// take its instructions.
[[nodiscard]] bool only_when_asked_for(copy_kernel const& kernel) noexcept;

/// Puts in how a plan of its kind posts words and lines, which hangs on the CPU and not on the
/// kernels: direct stores where there are any, since a doorbell should leave at once.
void choose_posts(copy_plan& plan) noexcept;

} // namespace barmap::copy
