// SPDX-License-Identifier: MIT
#include "transfer/contest.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

namespace barmap {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

std::size_t preferred(std::vector<double> const& times) {
    return prefer(times);
}

TEST(contest, prefers_the_earlier_one_unless_another_clearly_wins) {
    EXPECT_EQ(preferred({100}), 0u);
    EXPECT_EQ(preferred({100, 100}), 0u);
    EXPECT_EQ(preferred({100, 99, 98.5}), 0u);
    EXPECT_EQ(preferred({100, 98.5, 96}), 2u); // within the noise of 100, but not 100 of 96
    EXPECT_EQ(preferred({100, 95, 94}), 1u);
    EXPECT_EQ(preferred({200, 300, 100}), 2u);
}

TEST(contest, the_first_serves_what_is_smaller_and_the_last_winner_what_is_larger) {
    contest among(2, 1024, 4096, [](std::size_t candidate, std::size_t, unsigned repeats) {
        return repeats * (candidate == 0 ? 900.0 : 200.0);
    });
    among.measure(1'000'000);
    auto const winners = among.winners();
    EXPECT_EQ(winners[copy::size_class(1023)], 0u);
    EXPECT_EQ(winners[copy::size_class(1024)], 1u);
    EXPECT_EQ(winners[copy::size_class(1 << 20)], 1u);
}

TEST(contest, one_that_cannot_copy_never_wins) {
    std::size_t largest_of_the_broken = 0;
    contest among(2, 1024, 4096, [&](std::size_t candidate, std::size_t bytes, unsigned repeats) {
        if (candidate == 1)
            largest_of_the_broken = bytes;
        return candidate == 1 ? never : repeats * 900.0;
    });
    among.measure(1'000'000);
    for (std::size_t const winner : among.winners())
        EXPECT_EQ(winner, 0u);
    EXPECT_EQ(largest_of_the_broken, 1024u) << "not tried again at larger sizes";
}

TEST(contest, the_preferred_one_may_be_one_that_cannot_copy) {
    contest among(3, 1024, 4096, [](std::size_t candidate, std::size_t bytes, unsigned repeats) {
        if (candidate == 0)
            return never;
        return repeats * ((candidate == 1) == (bytes == 1024) ? 300.0 : 200.0);
    });
    among.measure(1'000'000);
    EXPECT_EQ(among.winners()[copy::size_class(1024)], 2u);
    EXPECT_EQ(among.winners()[copy::size_class(2048)], 1u) << "measured, and not inherited";
    EXPECT_EQ(among.winners()[copy::size_class(4096)], 1u);
}

TEST(contest, each_takes_its_turn_as_the_first_of_a_round) {
    bool is_next_first = true;
    contest among(2, 1024, 1024, [&](std::size_t candidate, std::size_t, unsigned repeats) {
        if (repeats == 1) { // the guess, before the rounds
            is_next_first = true;
            return 200.0;
        }
        bool const is_cold = std::exchange(is_next_first, !is_next_first);
        return repeats * (candidate == 0 ? 200.0 : 210.0) * (is_cold ? 1.5 : 1);
    });
    among.measure(1'000'000);
    EXPECT_EQ(among.winners()[copy::size_class(1024)], 0u);
}

TEST(contest, one_that_fails_after_a_good_sample_has_lost) {
    unsigned runs = 0;
    contest among(2, 1024, 1024, [&](std::size_t candidate, std::size_t, unsigned repeats) {
        if (candidate == 0)
            return repeats * 9'000.0;
        return ++runs % 3 == 0 ? never : repeats * 2'000.0; // in one of three rounds
    });
    among.measure(1'000'000);
    EXPECT_EQ(among.winners()[copy::size_class(1024)], 0u);
}

TEST(contest, one_that_fails_later_has_lost_what_comes_after) {
    bool is_broken = false;
    contest among(2, 1024, 4096, [&](std::size_t candidate, std::size_t bytes, unsigned repeats) {
        if (candidate == 0)
            return repeats * 900.0;
        is_broken = is_broken || bytes == 2048;
        return is_broken ? never : repeats * 200.0;
    });
    among.measure(1'000'000);
    EXPECT_EQ(among.winners()[copy::size_class(1024)], 1u);
    EXPECT_EQ(among.winners()[copy::size_class(2048)], 0u);
    EXPECT_EQ(among.winners()[copy::size_class(4096)], 0u);
}

/// The winners that a contest of two finds whose times are lines: start + bytes * rate.
std::vector<std::pair<std::size_t, std::size_t>> winners_of_lines(std::vector<double> const& start,
                                                                  std::vector<double> const& rate) {
    contest among(start.size(), 1024, 1 << 20,
                  [&](std::size_t candidate, std::size_t bytes, unsigned repeats) {
                      return repeats *
                             (start[candidate] + rate[candidate] * static_cast<double>(bytes));
                  });
    among.measure(1'000'000'000);
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (auto const& [from, winner] : among.winners_by_size())
        found.emplace_back(from, winner);
    return found;
}

TEST(contest, a_crossover_between_two_measured_sizes_is_found_where_it_is) {
    // 0 takes 1 ns a byte, 1 a fixed time: they meet at that many bytes.
    for (double const meeting : {1500.0, 2900.0, 3300.0, 45'000.0, 65'000.0, 700'000.0}) {
        auto const found = winners_of_lines({0, meeting}, {1, 0});
        ASSERT_EQ(found.size(), 2u) << meeting;
        EXPECT_EQ(found[0], std::pair(std::size_t{0}, std::size_t{0}));
        EXPECT_EQ(found[1].second, 1u);
        // The first is preferred up to the noise of 2 %, and each step is a sixteenth.
        EXPECT_GE(static_cast<double>(found[1].first), meeting);
        EXPECT_LE(static_cast<double>(found[1].first), meeting * (1.02 + 1.0 / 16)) << meeting;
    }
}

TEST(contest, three_lines_give_way_to_each_other_in_their_order) {
    auto const found = winners_of_lines({0, 3'000, 30'000}, {1, 0.1, 0.01});
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[1].second, 1u);
    EXPECT_EQ(found[2].second, 2u);
}

TEST(contest, beyond_what_was_measured_the_winner_stays) {
    auto const found = winners_of_lines({0, 2e6}, {1, 0}); // they meet at 2 MB
    EXPECT_EQ(found.size(), 1u);
    auto const always = winners_of_lines({900, 100}, {0, 0});
    ASSERT_EQ(always.size(), 2u);
    EXPECT_EQ(always[1], std::pair(std::size_t{1024}, std::size_t{1}));
}

TEST(contest, one_that_fails_at_a_size_wins_nothing_from_the_size_below_on) {
    contest among(2, 1024, 4096, [](std::size_t candidate, std::size_t bytes, unsigned repeats) {
        if (candidate == 0)
            return repeats * 900.0;
        return bytes == 2048 ? never : repeats * 200.0;
    });
    among.measure(1'000'000);
    auto const found = among.winners_by_size();
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[1].from, 1024u);
    EXPECT_EQ(found[1].winner, 1u);
    EXPECT_EQ(found[2].from, 1024u + 64);
    EXPECT_EQ(found[2].winner, 0u);
}

} // namespace
} // namespace barmap
