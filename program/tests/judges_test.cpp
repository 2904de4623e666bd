// SPDX-License-Identifier: MIT
#include "measure/pattern.hpp"
#include "fresh/freshness.hpp"
#include "output/timing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace barmap::tool {
namespace {

/// Polls of one word, one microsecond apart.
template <class Word>
freshness judge(std::vector<Word> const& values, double apart_ns = 1000, double step_ns = 1000) {
    freshness result(sizeof(Word), 1, step_ns);
    double now = 0;
    for (Word const value : values) {
        std::array<std::byte, sizeof(Word)> bytes{};
        std::memcpy(bytes.data(), &value, sizeof value);
        result.see(bytes, now, now + 10);
        now += apart_ns;
    }
    return result;
}

TEST(freshness, counts_distinct_values) {
    freshness const found = judge<std::uint64_t>({1, 1, 2, 5, 5, 9});
    EXPECT_EQ(found.polls(), 6u);
    EXPECT_EQ(found.distinct(), 4u);
    EXPECT_EQ(found.non_monotonic(), 0u);
    EXPECT_EQ(found.unjudged(), 0u);
}

TEST(freshness, notices_each_step_back) {
    EXPECT_EQ(judge<std::uint64_t>({5, 4, 5, 4}).non_monotonic(), 2u);
    EXPECT_EQ(judge<std::uint32_t>({5, 4, 6}).non_monotonic(), 1u);
    EXPECT_EQ(judge<std::uint16_t>({5, 4, 6}).non_monotonic(), 1u);
    EXPECT_EQ(judge<std::uint8_t>({5, 4, 6}).non_monotonic(), 1u);
}

TEST(freshness, lets_short_words_wrap) {
    EXPECT_EQ(judge<std::uint8_t>({250, 255, 3, 7}).non_monotonic(), 0u);
    EXPECT_EQ(judge<std::uint8_t>({3, 255}).non_monotonic(), 1u);
    EXPECT_EQ(judge<std::uint16_t>({65535, 0, 65535}).non_monotonic(), 1u);
}

TEST(freshness, does_not_judge_polls_too_far_apart) {
    // 127 steps of 1 us are the most that one byte can tell.
    freshness const found = judge<std::uint8_t>({200, 10, 200}, 200'000);
    EXPECT_EQ(found.non_monotonic(), 0u);
    EXPECT_EQ(found.unjudged(), 2u);
    EXPECT_EQ(judge<std::uint64_t>({200, 10}, 200'000).non_monotonic(), 1u);
}

TEST(freshness, looks_at_every_word) {
    freshness found(8, 2, 1);
    std::array<std::uint64_t, 2> words{7, 7};
    found.see(std::as_bytes(std::span(words)), 0, 1);
    words = {8, 6};
    found.see(std::as_bytes(std::span(words)), 2, 3);
    EXPECT_EQ(found.non_monotonic(), 1u);
}

TEST(pattern, finds_the_first_wrong_byte) {
    std::vector<std::byte> bytes(1003);
    fill_pattern(bytes, 5, 64);
    EXPECT_EQ(first_difference(bytes, 5, 64), std::nullopt);
    for (std::size_t const at : {0u, 1u, 7u, 8u, 500u, 1000u, 1002u}) {
        std::vector<std::byte> wrong = bytes;
        wrong[at] ^= std::byte{1};
        EXPECT_EQ(first_difference(wrong, 5, 64), at);
    }
    EXPECT_NE(first_difference(bytes, 6, 64), std::nullopt);
    EXPECT_NE(first_difference(bytes, 5, 72), std::nullopt);
}

TEST(pattern, is_the_same_in_pieces) {
    std::vector<std::byte> whole(256), piece(64);
    fill_pattern(whole, 1, 0);
    fill_pattern(piece, 1, 128);
    EXPECT_TRUE(std::equal(piece.begin(), piece.end(), whole.begin() + 128));
}

TEST(samples, tell_their_quantiles) {
    samples taken(64);
    for (int i = 100; i >= 0; --i)
        taken.add(i);
    summary const times = taken.summarise();
    EXPECT_EQ(times.min_ns, 0);
    EXPECT_EQ(times.p50_ns, 50);
    EXPECT_EQ(times.p99_ns, 99);
    EXPECT_EQ(times.samples, 101u);
    EXPECT_EQ(times.operations_per_sample, 64u);
}

TEST(samples, none_give_zeros) {
    EXPECT_EQ(samples().summarise().samples, 0u);
}

} // namespace
} // namespace barmap::tool
