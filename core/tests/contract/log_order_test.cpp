// SPDX-License-Identifier: MIT
#include "signal/log_slot.hpp"

#include <cstdint>
#include <gtest/gtest.h>

/// A log's record, and its reader, a load at a time.
namespace barmap::gpu {
namespace {

using noted::accesses;

class log_order_test : public testing::Test {
protected:
    log_order_test() { noted::trace.places = {{slot_, 4, "s"}, {&next_, 1, "next"}}; }
    ~log_order_test() {
        noted::at_load = [] {};
    }

    [[nodiscard]] static std::uint32_t value(std::uint32_t round) { return round * 0x9e3779b9; }
    /// The record of a round that begins with 1. @param halves bit by bit, which of them arrive
    void write(std::uint32_t round, unsigned halves) {
        alignas(16) word made[log_record_words::words];
        word number = round - 1;
        log({made, &number, 0, 0}, value(round), value(round + 100), value(round + 200),
            value(round + 300));
        for (unsigned const half : {0u, 1u})
            if ((halves >> half & 1) != 0)
                store_as_one(slot_ + half * 2, made[half * 2], made[half * 2 + 1]);
    }
    [[nodiscard]] static bool is_of(log_record const& found, std::uint32_t round) {
        return found.id == value(round) && found.a == value(round + 100) &&
               found.b == value(round + 200) && found.c == value(round + 300);
    }

    alignas(16) word slot_[log_record_words::words]{};
    word next_ = 0;
};

// Its halves are stored as one each, which no atomic of the compiler's does.
TEST_F(log_order_test, a_record_takes_its_number_and_orders_nothing) {
    EXPECT_EQ(accesses([&] { log({slot_, &next_, 0, 0}, 1); }), "add relaxed next");
}

TEST_F(log_order_test, a_record_is_read_between_two_looks_at_its_rounds) {
    write(1, 3);
    log_record found{};
    EXPECT_EQ(accesses([&] { (void)read_slot(slot_, 1, found); }),
              "load acquire s1, load acquire s3, load acquire s0, load acquire s2, "
              "load acquire s1, load acquire s3");
}

// Before any load of the reader, halves of another round arrive, in any order, and maybe not both.
TEST_F(log_order_test, no_record_of_two_rounds_is_shown) {
    constexpr std::uint32_t own = 7;
    for (std::uint32_t const other : {own - 1, own + 1})
        for (unsigned const at_first : {0u, 1u, 2u, 3u}) // which halves of its own the slot has
            for (int first = 0; first < 7; ++first)
                for (int second = first; second < 7; ++second)
                    for (unsigned const half : {0u, 1u})
                        for (std::uint32_t const later : {own, other}) {
                            write(own - 1, 3);
                            write(own, at_first);
                            int loads = 0;
                            noted::at_load = [&] {
                                if (loads == first)
                                    write(other, 1u << half);
                                if (loads == second)
                                    write(later, 2u >> half);
                                ++loads;
                            };
                            log_record found{};
                            slot_state const state = read_slot(slot_, own, found);
                            noted::at_load = [] {};
                            EXPECT_TRUE(state != slot_state::whole || is_of(found, own))
                                << other << " " << at_first << " " << first << " " << second << " "
                                << half << " " << later;
                        }
}

TEST_F(log_order_test, what_a_slot_holds_is_told_apart) {
    log_record found{};
    auto const state = [&](std::uint32_t round) { return read_slot(slot_, round, found); };
    EXPECT_EQ(state(1), slot_state::not_yet);
    for (std::uint32_t const round :
         {std::uint32_t{1}, std::uint32_t{5}, std::uint32_t{1} << 31, ~0u}) {
        write(round, 1);
        EXPECT_NE(state(round), slot_state::whole);
        write(round, 2);
        EXPECT_EQ(state(round), slot_state::whole);
        EXPECT_TRUE(is_of(found, round));
        EXPECT_EQ(state(round + 1), slot_state::not_yet);
        EXPECT_EQ(state(round - 1), slot_state::gone);
        write(round + 1, 2);
        EXPECT_EQ(state(round), slot_state::gone);
        EXPECT_EQ(state(round + 1), slot_state::not_yet);
    }
}

} // namespace
} // namespace barmap::gpu
