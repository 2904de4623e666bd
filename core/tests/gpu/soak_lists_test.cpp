// SPDX-License-Identifier: MIT
#include "soak_lists.hpp"

#include "shared/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <utility>
#include <vector>

/// That the soak test of kernel queues would find what is wrong; needs no GPU.
namespace barmap::gpu_test {
namespace {

using soak::list, soak::place, soak::report;

/// A region of the CPU's memory, and copies to it, byte by byte.
class region {
public:
    region() { std::memset(words_.data(), soak::poison & 0xff, soak::region_bytes); }

    [[nodiscard]] list placed(list of) const {
        of.to = reinterpret_cast<std::uintptr_t>(words_.data());
        return of;
    }
    std::uint8_t& operator[](std::size_t at) {
        return reinterpret_cast<std::uint8_t*>(words_.data())[at];
    }
    void copy(list const& of, gpu::copy_piece const& piece) {
        for (std::size_t i = 0; i < piece.bytes; ++i) {
            auto const from = static_cast<unsigned>(piece.from - of.from + i);
            (*this)[piece.to - of.to + i] =
                static_cast<std::uint8_t>(soak::pattern_word(of.salt, from / 4) >> from % 4 * 8);
        }
    }
    void copy(list const& of) {
        for (unsigned i = 0; i < of.count; ++i)
            copy(of, soak::piece_of(of, i));
    }
    [[nodiscard]] bool is_poison() {
        return (*this)[0] == (soak::poison & 0xff) &&
               std::memcmp(&(*this)[0], &(*this)[1], soak::region_bytes - 1) == 0;
    }

private:
    struct alignas(16) vector {
        std::uint8_t bytes[16];
    };
    std::vector<vector> words_ = std::vector<vector>(soak::region_bytes / 16);
};

constexpr soak::memory where = {std::uint64_t{1} << 40, std::uint64_t{2} << 40,
                                std::uint64_t{3} << 40, std::uint64_t{4} << 40};
constexpr std::uint64_t seed = 20240607;

report checked(list const& of, unsigned threads = 1) {
    report found{};
    for (unsigned thread = 0; thread < threads; ++thread)
        soak::check(of, thread, threads, found);
    return found;
}

TEST(soak_lists, pieces_lie_in_pool_and_region_and_no_two_overlap) {
    std::size_t most = 0, least = soak::most_pieces;
    for (unsigned number = 0; number < 200; ++number) {
        list const of = soak::list_of(where, seed, number % 4, number);
        ASSERT_LE(of.count, soak::most_pieces);
        ASSERT_LE((of.count + of.submissions - 1) / of.submissions, gpu::kernel_queue::most_pieces);
        most = std::max<std::size_t>(most, of.count);
        least = std::min<std::size_t>(least, of.count);
        std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
        for (unsigned i = 0; i < of.count; ++i) {
            gpu::copy_piece const piece = soak::piece_of(of, i);
            ASSERT_GE(piece.from, of.from + 16);
            ASSERT_LE(piece.from + piece.bytes, of.from + soak::pool_bytes);
            ASSERT_GE(piece.to, of.to);
            ASSERT_LE(piece.to + piece.bytes, of.to + soak::bytes_of_slots(of));
            ranges.emplace_back(piece.to, piece.to + piece.bytes);
        }
        ASSERT_LE(soak::bytes_of_slots(of), soak::region_bytes);
        std::ranges::sort(ranges);
        for (std::size_t i = 1; i < ranges.size(); ++i)
            ASSERT_LE(ranges[i - 1].second, ranges[i].first);
    }
    EXPECT_GT(most, gpu::kernel_queue::most_pieces);
    EXPECT_LT(least, 32u);
}

TEST(soak_lists, are_of_every_kind) {
    std::uint64_t pieces = 0, small = 0, large = 0, empty = 0, aligned = 0, to_host = 0,
                  from_host = 0, for_cpu = 0, overlapping = 0;
    for (unsigned number = 0; number < 1000; ++number) {
        list const of = soak::list_of(where, seed, 0, number);
        pieces += of.count;
        overlapping += of.overlaps ? of.count : 0;
        to_host += of.is_to_host ? of.count : 0;
        for_cpu += of.is_for_cpu ? of.count : 0;
        from_host += of.from == where.from_host ? of.count : 0;
        ASSERT_EQ(of.is_to_host, of.to >= where.to_host);
        for (unsigned i = 0; i < of.count; ++i) {
            gpu::copy_piece const piece = soak::piece_of(of, i);
            small += piece.bytes <= 256;
            large += piece.bytes > 4096;
            empty += piece.bytes == 0;
            aligned += (piece.bytes | piece.from | piece.to) % 16 == 0;
        }
    }
    auto const share = [&](std::uint64_t some) {
        return static_cast<double>(some) / static_cast<double>(pieces);
    };
    EXPECT_NEAR(share(small), 0.88, 0.03);
    EXPECT_NEAR(share(large), 0.007, 0.002);
    EXPECT_NEAR(share(empty), 1 / 64., 0.003);
    EXPECT_NEAR(share(aligned), 0.25, 0.02);
    EXPECT_NEAR(share(overlapping), 0.5, 0.1);
    EXPECT_NEAR(share(to_host), 4 / 16., 0.08);
    EXPECT_NEAR(share(from_host), 3 / 16., 0.08);
    EXPECT_NEAR(share(for_cpu), 1 / 16., 0.04);
}

TEST(soak_lists, copies_that_are_right_are_found_right_and_become_poison) {
    region memory;
    for (unsigned number = 0; number < 16; ++number) {
        list const of = memory.placed(soak::list_of(where, seed, 1, number));
        memory.copy(of);
        report const found = checked(of, 1 + number % 3);
        EXPECT_EQ(found.wrong + found.stray + found.is_first, 0u);
        std::uint64_t bytes = 0;
        for (unsigned i = 0; i < of.count; ++i)
            bytes += soak::piece_of(of, i).bytes;
        EXPECT_EQ(found.bytes, bytes);
        ASSERT_TRUE(memory.is_poison());
    }
    EXPECT_EQ(checked(memory.placed(soak::nothing_in(0))).stray, 0u);
}

TEST(soak_lists, each_wrong_byte_is_found) {
    region memory;
    std::mt19937_64 random(7);
    for (unsigned number = 0; number < 24; ++number) {
        list const of = memory.placed(soak::list_of(where, seed, 2, number));
        memory.copy(of);
        std::size_t const at = random() % soak::bytes_of_slots(of);
        place const around = soak::place_in(of, soak::slot_at(static_cast<unsigned>(at)));
        bool const is_of_piece = at >= around.at && at < around.at + around.bytes;
        memory[at] ^= static_cast<std::uint8_t>(1 + random() % 255);
        report const found = checked(of);
        EXPECT_EQ(found.wrong, is_of_piece ? 1u : 0u);
        EXPECT_EQ(found.stray, is_of_piece ? 0u : 1u);
        EXPECT_EQ(found.is_first, 1u);
        EXPECT_EQ(found.at, at / 4 * 4);
        EXPECT_EQ(found.number, number);
        ASSERT_TRUE(memory.is_poison());
        memory[at] = 0;
        EXPECT_EQ(checked(memory.placed(soak::nothing_in(0))).stray, 1u);
    }
}

TEST(soak_lists, pieces_that_are_late_or_elsewhere_are_found) {
    region memory;
    std::mt19937_64 random(8);
    for (unsigned number = 0; number < 24; ++number) {
        list const of = memory.placed(soak::list_of(where, seed, 3, number));
        auto const which = static_cast<unsigned>(random() % of.count);
        gpu::copy_piece piece = soak::piece_of(of, which);
        if (piece.bytes < 8)
            continue;
        auto const with = [&](gpu::copy_piece const& instead) {
            for (unsigned i = 0; i < of.count; ++i)
                if (i != which)
                    memory.copy(of, soak::piece_of(of, i));
            memory.copy(of, instead);
            return checked(of);
        };
        EXPECT_GT(with({piece.to, piece.from, 0}).wrong, piece.bytes * 9 / 10 - 2) << "late";
        EXPECT_GT(with({piece.to, piece.from + 1, piece.bytes}).wrong, piece.bytes / 2);
        EXPECT_GE(with({piece.to, piece.from, piece.bytes - 1}).wrong, 1u) << "too short";
        EXPECT_EQ(with(piece).wrong, 0u);
        ASSERT_TRUE(memory.is_poison());
    }
}

} // namespace
} // namespace barmap::gpu_test
