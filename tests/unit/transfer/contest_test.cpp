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

} // namespace
} // namespace barmap
