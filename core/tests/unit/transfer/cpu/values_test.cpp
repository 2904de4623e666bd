// SPDX-License-Identifier: MIT
// What the hot path takes besides bytes: values, a constant, a predicate; and windows of nothing.
#include "counted_routine.hpp"
#include "fake_gpu_memory.hpp"
#include "transfer/cpu/routines.hpp"

#include <barmap/copy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace barmap {
namespace {

using copy::counted_routine;
using clock = std::chrono::steady_clock;

class values : public testing::Test {
protected:
    [[nodiscard]] bool holds(void const* expected, std::size_t bytes) const {
        return std::memcmp(pages_.begin(), expected, bytes) == 0 &&
               std::all_of(pages_.begin() + bytes, pages_.end(),
                           [](std::byte b) { return b == std::byte{}; });
    }

    copy_plan plan_ = copy::plan_of_one(counted_routine::around(copy::all_routines().back()),
                                        cache_kind::write_combining);
    copy::guarded_pages pages_{16384};
    window window_{pages_.begin(), pages_.size(), &plan_};
};

struct sample {
    std::int32_t number;
    float value;
    bool operator==(sample const&) const = default;
};

TEST_F(values, are_written_and_read_whatever_holds_them) {
    std::vector<float> const vector{1.5F, 2.5F, 3.5F};
    write(window_, vector);
    EXPECT_TRUE(holds(vector.data(), 12));
    std::vector<float> back(3);
    read(back, window_);
    EXPECT_EQ(back, vector);

    std::array<sample, 2> const array{{{1, 2.5F}, {3, 4.5F}}};
    write(window_, array);
    EXPECT_TRUE(holds(array.data(), 16));
    std::array<sample, 2> array_back{};
    read(array_back, window_);
    EXPECT_EQ(array_back, array);

    std::int16_t plain[] = {1, -2, 3};
    write(window_.subwindow(0, 16), std::array<std::byte, 16>{});
    write(window_, plain);
    EXPECT_TRUE(holds(plain, 6));
    std::int16_t plain_back[3] = {};
    read(plain_back, window_);
    EXPECT_TRUE(std::equal(plain, plain + 3, plain_back));

    write(window_, std::span<std::int16_t const>(plain).first(2));
    write(window_, std::span(plain).last(2));
    std::int16_t const shifted[] = {-2, 3, 3};
    EXPECT_TRUE(holds(shifted, 6));
    read(std::span(plain).first(1), window_); // a span for the occasion, of values that outlive it
    EXPECT_EQ(plain[0], -2);

    std::string text(6, ' ');
    read(text, window_);
    EXPECT_EQ(std::memcmp(text.data(), shifted, 6), 0);
}

TEST_F(values, are_bytes_as_before) {
    std::array<std::byte, 24> bytes;
    bytes.fill(std::byte{0x5a});
    write(window_, bytes);
    write(window_, {bytes.data(), 8});
    write(window_, std::as_bytes(std::span(bytes)));
    write(window_, {});
    EXPECT_TRUE(holds(bytes.data(), 24));
    std::array<std::byte, 24> back{};
    read({back.data(), 24}, window_);
    EXPECT_EQ(back, bytes);
    back = {};
    read(std::span(back), window_);
    EXPECT_EQ(back, bytes);
    read({}, window_);
}

template <class Values>
concept writable = requires(Values values, window to) {
    write(to, values);
};
template <class Values>
concept readable = requires(window from) {
    read(std::declval<Values>(), from);
};
template <class Line>
concept line = requires(window to, Line const& from) {
    post_line(to, from);
};
static_assert(writable<std::vector<double>> && readable<std::vector<double>&>);
static_assert(readable<std::span<int>> && !readable<std::span<int const>>);
static_assert(!readable<std::vector<int> const&>, "what is constant cannot be read into");
static_assert(!readable<std::vector<int>>, "what is read would be gone");
static_assert(!writable<std::vector<std::string>> && !readable<std::vector<std::string>&>);
static_assert(!writable<std::vector<bool>> && !writable<int> && !readable<int&>);
static_assert(line<std::array<double, 8>> && line<std::array<std::byte, 64>>);
static_assert(!line<std::array<double, 7>> && !line<std::array<std::string, 2>>);

TEST_F(values, fit_into_a_line) {
    struct message {
        std::uint64_t number;
        double payload[7];
    };
    message const sent{7, {1, 2, 3, 4, 5, 6, 7}};
    post_line(window_, sent);
    flush_stores();
    EXPECT_TRUE(holds(&sent, 64));
    std::array<std::uint32_t, 16> numbers;
    std::iota(numbers.begin(), numbers.end(), 1u);
    post_line(window_, numbers);
    flush_stores();
    EXPECT_TRUE(holds(numbers.data(), 64));
}

TEST_F(values, fill_sets_its_bytes_and_no_others) {
    std::vector<std::byte> expected(512);
    window const arena = window_.subwindow(0, 512);
    for (std::size_t at = 64; at < 128; ++at) {
        for (std::size_t bytes = 0; bytes < 200; bytes += bytes < 20 ? 1 : 13) {
            std::fill(expected.begin(), expected.end(), std::byte{0x11});
            write(arena, expected);
            fill(arena.subwindow(at, bytes), std::byte{0xc7});
            std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(at), bytes, std::byte{0xc7});
            ASSERT_TRUE(holds(expected.data(), 512)) << bytes << " bytes at " << at;
        }
    }
}

TEST_F(values, fill_goes_on_over_many_pieces) {
    for (std::size_t bytes : {4095, 4096, 4097, 8191, 8192, 8193, 12000}) {
        for (std::size_t at : {0, 1, 8, 63, 64}) {
            std::vector<std::byte> expected(pages_.size());
            write(window_, expected);
            fill(window_.subwindow(at, bytes), std::byte{0x7c});
            std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(at), bytes, std::byte{0x7c});
            ASSERT_TRUE(holds(expected.data(), expected.size())) << bytes << " bytes at " << at;
        }
    }
}

TEST_F(values, fill_uses_the_routine_of_its_size) {
    plan_.store.fill(&copy::all_routines().back());
    plan_.store[copy::size_class(10'000)] = &counted_routine::around(copy::all_routines().back());
    fill(window_.subwindow(0, 10'000), std::byte{1});
    EXPECT_EQ(counted_routine::stores, 2) << "two pages; what is left is of another class";
    fill(window_.subwindow(0, 8'000), std::byte{1});
    EXPECT_EQ(counted_routine::stores, 2);
}

TEST(window_of_nothing, can_be_written_read_and_filled) {
    window const nothing;
    EXPECT_EQ(nothing.size, 0u);
    write(nothing, {});
    write(nothing, std::vector<int>{});
    read({}, nothing);
    fill(nothing, std::byte{1});
    write(nothing.subwindow(0), {});
    read({}, nothing.subwindow(0, 0));
}

TEST_F(values, read_until_gives_the_first_that_satisfies) {
    std::vector<std::uint32_t> seen;
    auto const found = read_until<std::uint32_t>(
        window_,
        [&](std::uint32_t count) {
            seen.push_back(count);
            write_value(window_, count + 1); // as another would
            return count >= 3;
        },
        clock::time_point::max());
    EXPECT_EQ(found, 3u);
    EXPECT_EQ(seen, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST_F(values, read_until_reads_once_when_the_deadline_has_passed) {
    int reads = 0;
    auto const never = [&](std::uint64_t) {
        ++reads;
        return false;
    };
    EXPECT_EQ(read_until<std::uint64_t>(window_, never, clock::now()), std::nullopt);
    EXPECT_EQ(reads, 1);
    EXPECT_EQ(read_until<std::uint64_t>(window_, never, clock::time_point::min()), std::nullopt);
    EXPECT_EQ(reads, 2);
    auto const always = [](std::uint64_t) { return true; };
    EXPECT_EQ(read_until<std::uint64_t>(window_, always, clock::time_point::min()), 0u);
}

// A value that comes at the last moment, while this thread does not run, is not missed.
TEST_F(values, read_until_reads_at_the_deadline_or_later) {
    auto const deadline = clock::now() + std::chrono::milliseconds(2);
    bool late = false;
    auto const found = read_until<std::uint64_t>(
        window_,
        [&](std::uint64_t) {
            late = clock::now() >= deadline;
            while (clock::now() < deadline) {
            }
            return false;
        },
        deadline);
    EXPECT_EQ(found, std::nullopt);
    EXPECT_TRUE(late) << "the only value was read before the deadline";
}

TEST_F(values, read_until_throws_what_the_predicate_throws) {
    auto const throws = [](sample const&) -> bool { throw std::runtime_error("enough"); };
    auto const quiet = [](sample const&) noexcept { return true; };
    auto const deadline = clock::time_point::min();
    EXPECT_THROW((void)read_until<sample>(window_, throws, deadline), std::runtime_error);
    static_assert(!noexcept(read_until<sample>(window_, throws, deadline)));
    static_assert(noexcept(read_until<sample>(window_, quiet, deadline)));
    EXPECT_EQ(read_until<sample>(window_, quiet, deadline), (sample{0, 0}));
}

} // namespace
} // namespace barmap
