// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace barmap::tool::gdrcopy {

/// What is timed is timed a bucket at a time, with the same number in each.
constexpr std::uint64_t most_buckets = 100;

/// The count, or the next one that fills whole buckets, of which a warning tells on stderr.
/// @param option by which the user gave the count
[[nodiscard]] std::uint64_t whole_buckets(std::uint64_t count, char const* option);

} // namespace barmap::tool::gdrcopy
