// SPDX-License-Identifier: MIT
#include "map/pages.hpp"

#include <gtest/gtest.h>
#include <random>

namespace barmap::backend {
namespace {

constexpr std::size_t page = 4096;

TEST(pages_test, one_part_is_rounded_out) {
    page_layout const inside = lay_out({{5000, 10}}, page);
    ASSERT_EQ(inside.pieces.size(), 1u);
    EXPECT_EQ(inside.pieces[0].file_offset, 4096u);
    EXPECT_EQ(inside.pieces[0].length, 4096u);
    EXPECT_EQ(inside.head, 904u);
    EXPECT_EQ(inside.total, 4096u);

    page_layout const across = lay_out({{4095, 2}}, page);
    EXPECT_EQ(across.pieces[0].file_offset, 0u);
    EXPECT_EQ(across.total, 8192u);
    EXPECT_EQ(across.head, 4095u);

    page_layout const exact = lay_out({{8192, 4096}}, page);
    EXPECT_EQ(exact.head, 0u);
    EXPECT_EQ(exact.total, 4096u);
}

TEST(pages_test, offsets_above_4_gib_are_kept) {
    std::uint64_t const far = (std::uint64_t{5} << 32) + 17;
    page_layout const layout = lay_out({{far, 1}}, page);
    EXPECT_EQ(layout.pieces[0].file_offset, far - 17);
    EXPECT_EQ(layout.head, 17u);
}

TEST(pages_test, parts_follow_each_other) {
    page_layout const layout = lay_out({{100, 3996}, {0, 8192}, {4096, 1}}, page);
    ASSERT_EQ(layout.pieces.size(), 3u);
    EXPECT_EQ(layout.head, 100u);
    EXPECT_EQ(layout.total, 4u * 4096);
    EXPECT_EQ(layout.pieces[1].at, 4096u);
    EXPECT_EQ(layout.pieces[2].at, 3u * 4096);
    EXPECT_EQ(layout.pieces[2].file_offset, 4096u);
}

// The first of these objects ends 4 KiB before the GPU page that is wanted of it.
TEST(pages_test, what_lies_behind_an_object_is_a_piece_without_one) {
    part const clipped = clip(8192, 65536, 69632);
    EXPECT_EQ(clipped.length, 61440u);
    EXPECT_EQ(clipped.beyond, 4096u);
    EXPECT_EQ(clip(8192, 61440, 69632).beyond, 0u);
    page_layout const layout = lay_out({clipped, {0, 4096}}, page);
    ASSERT_EQ(layout.pieces.size(), 3u);
    EXPECT_EQ(layout.pieces[0].length, 61440u);
    EXPECT_EQ(layout.pieces[1].object, no_object);
    EXPECT_EQ(layout.pieces[1].at, 61440u);
    EXPECT_EQ(layout.pieces[1].length, 4096u);
    EXPECT_EQ(layout.pieces[2].object, 1u);
    EXPECT_EQ(layout.pieces[2].at, 65536u);
    EXPECT_EQ(layout.total, 69632u);
    // A page of the system that the object ends in is its own to the end.
    EXPECT_EQ(lay_out({{0, 4000, 96}}, page).pieces.size(), 1u);
    EXPECT_EQ(lay_out({{0, 4000, 97}}, page).total, 8192u);
}

TEST(pages_test, a_hole_is_refused) {
    auto const code_of = [](std::vector<part> const& parts) {
        try {
            (void)lay_out(parts, page);
        } catch (error const& failure) {
            EXPECT_FALSE(failure.advice().empty());
            return failure.code();
        }
        return std::error_code{};
    };
    EXPECT_EQ(code_of({{0, 4095}, {0, 4096}}), errc::unsupported_memory) << "after the first";
    EXPECT_EQ(code_of({{0, 4096}, {1, 4095}}), errc::unsupported_memory) << "before the second";
    EXPECT_EQ(code_of({{0, 4096}, {0, 100}, {0, 4096}}), errc::unsupported_memory)
        << "in the middle";
    EXPECT_EQ(code_of({{1, 4095}, {0, 4096}, {0, 1}}), std::error_code{});
}

// Whatever the parts: whole pages, side by side, each byte where it should be.
TEST(pages_test, any_layout_is_whole_and_without_gaps) {
    std::mt19937_64 random(1);
    for (std::size_t const unit : {std::size_t{4096}, std::size_t{65536}}) {
        for (int round = 0; round < 2000; ++round) {
            std::size_t const count = 1 + random() % 5;
            std::vector<part> parts(count);
            std::size_t wanted = 0;
            for (std::size_t i = 0; i < count; ++i) {
                std::uint64_t const start = random() % 50 * unit + (i == 0 ? random() % unit : 0);
                std::uint64_t end = (start / unit + 1 + random() % 20) * unit;
                if (i + 1 == count)
                    end -= random() % (unit - start % unit);
                parts[i] = {start, static_cast<std::size_t>(end - start)};
                wanted += parts[i].length;
            }
            page_layout const layout = lay_out(parts, unit);
            std::size_t at = 0, cpu = layout.head;
            ASSERT_EQ(layout.pieces.size(), count);
            for (std::size_t i = 0; i < count; ++i) {
                page_run const& one = layout.pieces[i];
                ASSERT_EQ(one.object, i);
                ASSERT_EQ(one.at, at);
                ASSERT_EQ(one.file_offset % unit, 0u);
                ASSERT_EQ(one.length % unit, 0u);
                ASSERT_EQ(one.file_offset + (cpu - one.at), parts[i].offset);
                ASSERT_LE(parts[i].offset + parts[i].length, one.file_offset + one.length);
                at += one.length;
                cpu += parts[i].length;
            }
            ASSERT_EQ(layout.total, at);
            ASSERT_LT(layout.head, unit);
            ASSERT_LE(layout.head + wanted, layout.total);
        }
    }
}

TEST(pages_test, no_parts_are_refused) {
    EXPECT_THROW((void)lay_out({}, 4096), error);
}

} // namespace
} // namespace barmap::backend
