// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/host_order.hpp"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace barmap::engine {
namespace {

constexpr std::uintptr_t mib = std::uintptr_t{1} << 20;

/// Pieces from, and to, anywhere in so many bytes behind different places.
std::vector<copy_piece> spread(std::size_t count, std::uintptr_t bytes) {
    std::vector<copy_piece> list;
    std::uint64_t random = 7;
    for (std::size_t i = 0; i < count; ++i) {
        random = random * 6364136223846793005 + 1442695040888963407;
        std::uintptr_t const from = (random >> 11) % bytes, to = (random >> 7) % bytes;
        list.push_back({0x7f00'0000'0000 + to, 0x100'0000 + from, 512});
    }
    return list;
}

TEST(host_order, brings_together_what_lies_near_each_other) {
    host_order order;
    for (host_side const side : {&copy_piece::from, &copy_piece::to})
        for (std::uintptr_t const range : {130 * mib, 1024 * mib, (1024 * 1024) * mib}) {
            auto const list = spread(host_order::most_pieces, range);
            ASSERT_TRUE(order.find(list, side));
            std::set<std::size_t> seen;
            std::uintptr_t last = 0;
            for (std::size_t place = 0; place < list.size(); ++place) {
                seen.insert(order[place]);
                std::uintptr_t const part = (list[order[place]].*side >> 22) % 256;
                ASSERT_GE(part, last);
                last = part;
            }
            EXPECT_EQ(seen.size(), list.size());
            EXPECT_EQ(*seen.rbegin(), list.size() - 1);
        }
}

TEST(host_order, leaves_what_lies_near_each_other) {
    host_order order;
    EXPECT_FALSE(order.find(spread(4096, 100 * mib), &copy_piece::to));
    EXPECT_FALSE(order.find(spread(31, 1024 * mib), &copy_piece::to));
    EXPECT_FALSE(order.find({}, &copy_piece::to));
}

TEST(host_order, is_for_many_small_pieces) {
    EXPECT_TRUE(host_order::suits(4096, 4096 * 512));
    EXPECT_TRUE(host_order::suits(1024, 1024 * 1024));
    EXPECT_FALSE(host_order::suits(1023, 1023 * 512));
    EXPECT_FALSE(host_order::suits(4096, 4096 * 1024 + 1));
    EXPECT_FALSE(host_order::suits(0, 0));
}

} // namespace
} // namespace barmap::engine
