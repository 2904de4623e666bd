// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace barmap::tool {

/// Classifies polls of words that another thread counts up: is any read non-monotonic?
///
/// Words wrap around, so a non-monotonic read is a difference in the upper half of the word's
/// range. If enough time lies between two polls for the counter to have gone half way round (one
/// byte goes half way in 128 steps), the pair is not judged.
class freshness {
public:
    /// @param word_bytes       1, 2, 4 or 8
    /// @param shortest_step_ns the counter takes at least that long for one step
    freshness(std::size_t word_bytes, std::size_t words, double shortest_step_ns);

    /// One poll, read between these times (of any clock that counts nanoseconds).
    void see(std::span<std::byte const> bytes, double begin_ns, double end_ns);

    [[nodiscard]] std::uint64_t polls() const { return polls_; }
    [[nodiscard]] std::uint64_t distinct() const { return distinct_; } ///< polls with a new value
    [[nodiscard]] std::uint64_t non_monotonic() const { return non_monotonic_; }
    [[nodiscard]] std::uint64_t unjudged() const { return unjudged_; }

private:
    std::size_t word_bytes_;
    double half_way_ns_;
    std::vector<std::uint64_t> last_;
    double last_begin_ns_ = 0;
    std::uint64_t polls_ = 0, distinct_ = 0, non_monotonic_ = 0, unjudged_ = 0;
};

} // namespace barmap::tool
