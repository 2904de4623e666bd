// SPDX-License-Identifier: MIT
// The cutting of a transfer, with movers that only take notes.
#include "transfer/cpu/walk.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace barmap::copy {
namespace {

constexpr std::size_t line = 64;

struct access {
    std::size_t at, bytes;
    bool operator==(access const&) const = default;
};

alignas(line) std::byte gpu_memory[1024];
std::byte host_memory[1024];
std::vector<access> noted;

struct note_word {
    template <std::size_t Bytes>
    void operator()(width<Bytes>, std::byte* gpu, std::byte const* host) const {
        EXPECT_EQ(gpu - gpu_memory, host - host_memory) << "the two sides went apart";
        noted.push_back({static_cast<std::size_t>(gpu - gpu_memory), Bytes});
    }
};

void note_edge(std::byte* gpu, std::byte const* host, std::size_t bytes) noexcept {
    auto const first = static_cast<std::size_t>(gpu - gpu_memory);
    EXPECT_GT(bytes, 0u);
    EXPECT_EQ(first / line, (first + bytes - 1) / line) << "an edge lies inside one line";
    walk_words(gpu, host, bytes, note_word{});
}

void note_lines(std::byte* gpu, std::byte const*, std::size_t bytes) noexcept {
    EXPECT_GT(bytes, 0u);
    EXPECT_EQ(bytes % line, 0u);
    for (std::size_t i = 0; i < bytes; i += line) {
        noted.push_back({static_cast<std::size_t>(gpu - gpu_memory) + i, line});
    }
}

std::vector<access> const& walked(std::size_t at, std::size_t bytes) {
    noted.clear();
    std::byte const* const host = host_memory + at;
    walk<line>(gpu_memory + at, host, bytes, note_edge, note_lines);
    return noted;
}

TEST(walk, covers_every_byte_once_in_order_with_aligned_accesses) {
    for (std::size_t at = 0; at < 2 * line; ++at) {
        for (std::size_t bytes = 0; bytes < 258; ++bytes) {
            std::size_t next = at;
            for (access const& each : walked(at, bytes)) {
                ASSERT_EQ(each.at, next) << at << " + " << bytes;
                ASSERT_EQ(each.at % each.bytes, 0u) << at << " + " << bytes;
                next += each.bytes;
            }
            ASSERT_EQ(next, at + bytes);
        }
    }
}

TEST(walk, moves_an_aligned_word_at_once) {
    for (std::size_t word : {1, 2, 4, 8}) {
        for (std::size_t at = 0; at < 2 * line; at += word) {
            EXPECT_EQ(walked(at, word), (std::vector<access>{{at, word}}));
        }
    }
}

TEST(walk, moves_a_line_at_once) {
    EXPECT_EQ(walked(line, line), (std::vector<access>{{line, line}}));
}

TEST(walk, goes_up_and_down_the_words) {
    EXPECT_EQ(walked(line + 1, 22),
              (std::vector<access>{{65, 1}, {66, 2}, {68, 4}, {72, 8}, {80, 4}, {84, 2}, {86, 1}}));
}

TEST(walk, needs_no_addresses_for_nothing) {
    std::byte* const gpu = nullptr;
    std::byte const* const host = nullptr;
    noted.clear();
    walk<line>(gpu, host, 0, note_edge, note_lines);
    EXPECT_TRUE(noted.empty());
}

} // namespace
} // namespace barmap::copy
