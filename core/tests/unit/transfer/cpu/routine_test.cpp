// SPDX-License-Identifier: MIT
// Every routine that this CPU supports, against memcpy, with canaries on both sides.
#include "counted_routine.hpp"
#include "fake_gpu_memory.hpp"
#include "transfer/cpu/routines.hpp"
#include "transfer/cpu/walk.hpp"

#include <barmap/copy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace barmap::copy {
namespace {

class every_routine : public testing::TestWithParam<copy_routine> {
protected:
    void SetUp() override {
        if (!supported(GetParam())) {
            GTEST_SKIP() << "this CPU or operating system lacks what " << GetParam().name
                         << " needs";
        }
        plan_ = plan_of_one(counted_routine::around(GetParam()), cache_kind::write_combining);
        std::mt19937 random(42);
        std::generate(source_.begin(), source_.end(), [&] { return std::byte(random()); });
    }
    void TearDown() override {
        if (!IsSkipped()) {
            EXPECT_GT(writes_ + reads_, 0);
            EXPECT_EQ(counted_routine::stores, writes_) << "the forced routine did not run";
            EXPECT_EQ(counted_routine::loads, reads_) << "the forced routine did not run";
        }
    }

    // Copies out of or into [arena, arena + size) must change the wanted bytes and no other.
    testing::AssertionResult writes(std::byte* arena, std::size_t size, std::byte* gpu,
                                    std::byte const* host, std::size_t bytes) {
        std::memset(arena, 0xc7, size);
        expected_.assign(arena, arena + size);
        std::copy_n(host, bytes, expected_.begin() + (gpu - arena));
        write({gpu, bytes, &plan_}, {host, bytes});
        // An aligned word is written without a routine.
        writes_ += is_word(reinterpret_cast<std::uintptr_t>(gpu), bytes) ? 0 : 1;
        return same(arena, size, bytes);
    }
    testing::AssertionResult reads(std::byte* arena, std::size_t size, std::byte* host,
                                   std::byte* gpu, std::size_t bytes) {
        std::memset(arena, 0xc7, size);
        expected_.assign(arena, arena + size);
        std::copy_n(gpu, bytes, expected_.begin() + (host - arena));
        read({host, bytes}, {gpu, bytes, &plan_});
        reads_ += is_word(reinterpret_cast<std::uintptr_t>(gpu), bytes) ? 0 : 1;
        return same(arena, size, bytes);
    }
    testing::AssertionResult same(std::byte const* arena, std::size_t size, std::size_t bytes) {
        if (std::memcmp(arena, expected_.data(), size) == 0) {
            return testing::AssertionSuccess();
        }
        auto const at = std::mismatch(expected_.begin(), expected_.end(), arena).second - arena;
        return testing::AssertionFailure()
               << bytes << " bytes: byte " << at << " of the arena is wrong";
    }

    copy_plan plan_{};
    std::vector<std::byte> source_ = std::vector<std::byte>(1 << 20), expected_;
    int writes_ = 0, reads_ = 0;
};

constexpr std::size_t all_sizes = 258; // 0 to 257
constexpr std::size_t arena_bytes = 512;
constexpr std::size_t host_misalignments[] = {0, 1, 8, 61};

TEST_P(every_routine, writes_all_small_sizes_at_all_alignments) {
    guarded_pages const pages(arena_bytes);
    std::byte* const arena = pages.end() - arena_bytes;
    for (std::size_t bytes = 0; bytes < all_sizes; ++bytes) {
        for (std::size_t gpu = 0; gpu < 64; ++gpu) {
            for (std::size_t host : host_misalignments) {
                ASSERT_TRUE(
                    writes(arena, arena_bytes, arena + 64 + gpu, source_.data() + host, bytes))
                    << "GPU side +" << gpu << ", host side +" << host;
            }
        }
    }
}

TEST_P(every_routine, reads_all_small_sizes_at_all_alignments) {
    guarded_pages const pages(arena_bytes);
    std::byte* const gpu_memory = pages.end() - arena_bytes;
    std::copy_n(source_.begin(), arena_bytes, gpu_memory);
    alignas(64) std::byte arena[arena_bytes];
    for (std::size_t bytes = 0; bytes < all_sizes; ++bytes) {
        for (std::size_t gpu = 0; gpu < 64; ++gpu) {
            for (std::size_t host : host_misalignments) {
                ASSERT_TRUE(reads(arena, arena_bytes, arena + 64 + host, gpu_memory + gpu, bytes))
                    << "GPU side +" << gpu << ", host side +" << host;
            }
        }
    }
}

TEST_P(every_routine, touches_no_page_besides_those_of_the_range) {
    guarded_pages const gpu_pages(1), host_pages(1);
    std::copy_n(source_.begin(), gpu_pages.size(), gpu_pages.begin());
    for (std::size_t bytes = 0; bytes < all_sizes; ++bytes) {
        for (std::size_t away = 0; away < 64; away += 3) {
            for (bool const high : {false, true}) {
                std::byte* const gpu =
                    high ? gpu_pages.end() - bytes - away : gpu_pages.begin() + away;
                std::byte* const host = high ? host_pages.end() - bytes : host_pages.begin();
                ASSERT_TRUE(reads(host_pages.begin(), host_pages.size(), host, gpu, bytes));
                ASSERT_TRUE(writes(host_pages.begin(), host_pages.size(), host, gpu, bytes));
            }
        }
    }
}

TEST_P(every_routine, moves_large_ranges) {
    constexpr std::size_t large = 300'000;
    guarded_pages const pages(large + 4096);
    std::mt19937 random(7);
    for (int i = 0; i < 60; ++i) {
        std::size_t const bytes = random() % (i < 50 ? 20'000 : large);
        std::size_t const gpu = 64 + random() % 64, host = random() % 64;
        std::size_t const used = bytes + 256;
        ASSERT_TRUE(writes(pages.begin(), used, pages.begin() + gpu, source_.data() + host, bytes));
        std::vector<std::byte> arena(used);
        ASSERT_TRUE(reads(arena.data(), used, arena.data() + host, pages.begin() + gpu, bytes));
    }
}

INSTANTIATE_TEST_SUITE_P(copy, every_routine,
                         testing::ValuesIn(all_routines().begin(), all_routines().end()),
                         [](auto const& routine) { return std::string(routine.param.name); });

} // namespace
} // namespace barmap::copy
