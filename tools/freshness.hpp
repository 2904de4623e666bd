// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace barmap::tool {

/// Judges polls of words that somebody else counts up: does any ever go back?
///
/// Words wrap around, so a step back is a difference in the upper half of the word's range. Where
/// so much time lies between two polls that the counter may have gone half way round meanwhile
/// (one byte does so in 128 steps), nothing can be told: such a pair is not judged.
class freshness {
public:
    /// @param word_bytes       1, 2, 4 or 8
    /// @param shortest_step_ns the counter takes at least so long for one step
    freshness(std::size_t word_bytes, std::size_t words, double shortest_step_ns);

    /// One poll, read between these times (of any clock that counts nanoseconds).
    void see(std::span<std::byte const> bytes, double begin_ns, double end_ns);

    [[nodiscard]] std::uint64_t polls() const { return polls_; }
    [[nodiscard]] std::uint64_t distinct() const { return distinct_; } ///< polls with a new value
    [[nodiscard]] std::uint64_t went_back() const { return went_back_; }
    [[nodiscard]] std::uint64_t unjudged() const { return unjudged_; }

private:
    std::size_t word_bytes_;
    double half_way_ns_;
    std::vector<std::uint64_t> last_;
    double last_begin_ns_ = 0;
    std::uint64_t polls_ = 0, distinct_ = 0, went_back_ = 0, unjudged_ = 0;
};

} // namespace barmap::tool
