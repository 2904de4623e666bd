// SPDX-License-Identifier: MIT
#pragma once

#include "output/timing.hpp"

#include <algorithm>
#include <cstdint>

namespace barmap::tool::gdrcopy {

/// The programs time a bucket of operations at a time, with the same number in each.
constexpr std::uint64_t most_buckets = 100;

/// The count, or the next one that fills whole buckets, of which a warning tells on stderr.
/// @param option by which the user gave the count
[[nodiscard]] std::uint64_t whole_buckets(std::uint64_t count, char const* option);

/// The samples of the buckets: time(times) gives the nanoseconds of each of that many.
template <class Time>
[[nodiscard]] summary in_buckets(std::uint64_t count, Time const& time) {
    std::uint64_t const buckets = std::min(count, most_buckets);
    auto const per_bucket = unsigned(count / buckets);
    samples taken(per_bucket);
    for (std::uint64_t bucket = 0; bucket < buckets; ++bucket)
        taken.add(time(per_bucket));
    return taken.summarise();
}

} // namespace barmap::tool::gdrcopy
