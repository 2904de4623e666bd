// SPDX-License-Identifier: MIT
#pragma once

#include "reasons.hpp"

#include <cstddef>
#include <string>

/// Counts the batches that were taken and those that were not, for BARMAP_LOG=info. It costs
/// nothing for a program that copies no batches. Thread rule: every function may be called at
/// once.
namespace barmap::memcpy_dropin {

void count_taken(std::size_t pieces, std::size_t bytes) noexcept;
/// One that CUDA has refused, and that is in a graph now.
void count_captured() noexcept;
void count_passed(reason why) noexcept;

/// In one line. @throws std::bad_alloc
[[nodiscard]] std::string account();

/// Prints to stderr, whatever BARMAP_LOG is: for messages that users must see.
void say(std::string const& text) noexcept;

} // namespace barmap::memcpy_dropin
