// SPDX-License-Identifier: MIT
#pragma once

#include "base/policy.hpp"
#include "transfer/cpu/plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace barmap {

/// Which of several times wins: the first that no other beats by more than the noise (policy.hpp).
/// @param times one per candidate, the preferred candidate first; not empty
[[nodiscard]] std::size_t prefer(std::span<double const> times) noexcept;

/// Nanoseconds since some moment; a test may make them up.
using nanosecond_clock = std::int64_t (*)() noexcept;
[[nodiscard]] std::int64_t steady_nanoseconds() noexcept;

/// Finds by measurement which of several ways to copy is the fastest, for each size class.
///
///     contest among(2, 1024, 1 << 20, [&](std::size_t way, std::size_t bytes, unsigned repeats) {
///         return nanoseconds_of(repeats, [&] { ways[way].copy(bytes); });
///     });
///     among.measure(2'000'000);
///     among.measure(2'000'000);
///     std::size_t const way_of_64_kib = among.winners()[copy::size_class(65536)];
///     for (auto const& [from, way] : among.winners_by_size()) // from `from` bytes on
///
/// A disturbance of the machine for some milliseconds makes a time longer and never shorter. So
/// measure() is called twice, with another contest in between, and the shorter of two times counts.
class contest {
public:
    static constexpr std::size_t max_candidates = 16;

    /// Makes a candidate copy that many times; to the same place, as when a program updates it.
    /// @return nanoseconds of all of them together, fences included; infinity: it cannot
    using timed_copies =
        std::function<double(std::size_t candidate, std::size_t bytes, unsigned repeats)>;

    /// @param candidates 1 to 16; the first is the one that is preferred among equals
    /// @param smallest, largest sizes in bytes, powers of two
    contest(std::size_t candidates, std::size_t smallest, std::size_t largest, timed_copies time);

    /// Measures size after size, from the smallest on, until all are measured or the time is used
    /// up.
    void measure(std::int64_t nanoseconds);

    /// The number of each size class's winner. Classes that were not measured inherit the winner of
    /// the next smaller one; below the smallest size it is candidate 0.
    [[nodiscard]] std::array<std::size_t, copy::size_classes> winners() const;

    /// A winner, and the least size, in bytes, that it wins.
    struct winner_from {
        std::size_t from;
        std::size_t winner;
    };

    /// The winners of all sizes, in the order of the sizes; no two neighbours are the same. Between
    /// two measured sizes, a candidate's time is taken to grow evenly from one to the other. Below
    /// the smallest size it is candidate 0; beyond the last measured one, the winner stays.
    [[nodiscard]] std::vector<winner_from> winners_by_size() const;

private:
    struct candidate {
        std::size_t number;
        std::array<double, policy::contest_rounds> samples{};
        double typical; ///< nanoseconds of one copy
        double times_best =
            std::numeric_limits<double>::infinity(); ///< the same, divided by the winner's
    };

    double compete(std::span<candidate> candidates, std::size_t bytes);

    std::size_t count_, smallest_, largest_;
    timed_copies time_;
    std::array<std::array<double, max_candidates>, copy::size_classes> shortest_;
};

} // namespace barmap
