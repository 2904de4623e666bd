// SPDX-License-Identifier: MIT
#include "counted_routine.hpp"
#include "fake_gpu_memory.hpp"
#include "transfer/cpu/routines.hpp"

#include <barmap/copy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace barmap {
namespace {

using copy::counted_routine;

class hot_path : public testing::TestWithParam<cache_kind> {
protected:
    copy_plan plan_ =
        copy::plan_of_one(counted_routine::around(copy::all_routines().back()), GetParam());
    copy::guarded_pages pages_{4096};
    window window_{pages_.begin(), pages_.size(), &plan_};
};

TEST_P(hot_path, uses_the_routine_of_the_size_class) {
    copy::copy_routine const* const other = &copy::all_routines().back();
    copy::copy_routine const* const counted = plan_.store[0];
    plan_.store.fill(other);
    plan_.load.fill(other);
    plan_.store[copy::size_class(100)] = counted;
    plan_.load[copy::size_class(200)] = counted;
    std::array<std::byte, 512> bytes{};
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        write(window_, {bytes.data(), size});
        read({bytes.data(), size}, window_);
    }
    EXPECT_EQ(counted_routine::stores, 64) << "64 to 127";
    EXPECT_EQ(counted_routine::loads, 128) << "128 to 255";
}

TEST_P(hot_path, writes_and_reads_values) {
    struct pair {
        std::uint32_t first;
        double second;
        bool operator==(pair const&) const = default;
    };
    pair const value{7, 2.5};
    write_value(window_.subwindow(8), value);
    EXPECT_EQ(read_value<pair>(window_.subwindow(8)), value);
    EXPECT_EQ(counted_routine::stores, 1);
    EXPECT_EQ(counted_routine::loads, 1);
    order_loads();
}

template <class Word>
void post_and_look(window there, Word word) {
    std::memset(there.data, 0xc7, 64);
    post(there.subwindow(16), word);
    flush_stores();
    std::array<std::byte, 64> expected;
    expected.fill(std::byte{0xc7});
    std::memcpy(expected.data() + 16, &word, sizeof word);
    EXPECT_EQ(std::memcmp(there.data, expected.data(), 64), 0) << sizeof word << " bytes";
}

TEST_P(hot_path, posts_words) {
    struct doorbell {
        std::uint32_t ring;
        std::uint16_t index, flags;
    };
    post_and_look(window_, std::uint8_t{0x81});
    post_and_look(window_, std::uint16_t{0x8123});
    post_and_look(window_, std::uint32_t{0x81234567});
    post_and_look(window_, std::uint64_t{0x8123456789abcdef});
    post_and_look(window_, 1.5F);
    post_and_look(window_, doorbell{1, 2, 3});
}

TEST_P(hot_path, posts_lines_from_any_alignment) {
    std::array<std::byte, 128> host;
    for (std::size_t i = 0; i < host.size(); ++i) {
        host[i] = std::byte(i);
    }
    for (std::size_t at = 0; at < 64; ++at) {
        std::memset(window_.data, 0xc7, 192);
        post_line(window_.subwindow(64), std::span<std::byte const, 64>(host.data() + at, 64));
        flush_stores();
        EXPECT_EQ(std::memcmp(window_.data + 64, host.data() + at, 64), 0);
        EXPECT_TRUE(std::all_of(window_.data, window_.data + 64,
                                [](std::byte b) { return b == std::byte{0xc7}; }));
        EXPECT_TRUE(std::all_of(window_.data + 128, window_.data + 192,
                                [](std::byte b) { return b == std::byte{0xc7}; }));
    }
}

#if !defined(NDEBUG)
using hot_path_DeathTest = hot_path;

TEST_P(hot_path_DeathTest, asserts_the_bounds) {
    std::array<std::byte, 64> bytes{};
    EXPECT_DEATH(write(window_.subwindow(0, 63), bytes), "to.size");
    EXPECT_DEATH(read(bytes, window_.subwindow(0, 63)), "from.size");
    EXPECT_DEATH(post(window_.subwindow(0, 7), std::uint64_t{1}), "to.size");
    EXPECT_DEATH(post(window_.subwindow(4), std::uint64_t{1}), "aligned");
    EXPECT_DEATH(post_line(window_.subwindow(0, 63), bytes), "to.size");
    EXPECT_DEATH(post_line(window_.subwindow(32), bytes), "aligned");
    EXPECT_DEATH((void)window_.subwindow(window_.size + 1), "offset");
    EXPECT_DEATH((void)window_.subwindow(1, window_.size), "bytes");
}
#endif

INSTANTIATE_TEST_SUITE_P(copy, hot_path,
                         testing::Values(cache_kind::write_combining, cache_kind::cached,
                                         cache_kind::uncached));
#if !defined(NDEBUG)
INSTANTIATE_TEST_SUITE_P(copy, hot_path_DeathTest, testing::Values(cache_kind::write_combining));
#endif

} // namespace
} // namespace barmap
