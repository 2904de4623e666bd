// SPDX-License-Identifier: MIT
#include <barmap/waits.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

/// How long calls wait, from any number that a program may give.
namespace barmap::detail {
namespace {

using namespace std::chrono_literals;

TEST(waits_test, longer_ones_than_a_year_end_after_a_year) {
    EXPECT_EQ(wait_of_ns(UINT64_MAX), longest_wait);
    EXPECT_EQ(wait_of_ns(std::uint64_t{1} << 63), longest_wait);
    EXPECT_EQ(wait_of_ns(5), 5ns);
    EXPECT_EQ(wait_of_seconds(1e300), longest_wait);
    EXPECT_EQ(wait_of_seconds(std::numeric_limits<double>::infinity()), longest_wait);
    auto const now = std::chrono::steady_clock::now();
    EXPECT_GE(end_of_wait(std::chrono::nanoseconds::max()), now + longest_wait);
    EXPECT_LT(end_of_wait(std::chrono::nanoseconds::max()), now + 2 * longest_wait);
}

TEST(waits_test, what_is_less_than_nothing_is_nothing) {
    EXPECT_EQ(wait_of_seconds(-1), 0ns);
    EXPECT_EQ(wait_of_seconds(-std::numeric_limits<double>::infinity()), 0ns);
    EXPECT_EQ(wait_of_seconds(std::nan("")), 0ns);
    EXPECT_EQ(wait_of_seconds(0.25), 250ms);
    auto const now = std::chrono::steady_clock::now();
    EXPECT_GE(end_of_wait(std::chrono::nanoseconds::min()), now);
    EXPECT_LT(end_of_wait(std::chrono::nanoseconds::min()), now + longest_wait);
}

} // namespace
} // namespace barmap::detail
