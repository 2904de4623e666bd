// SPDX-License-Identifier: MIT
#include "contract/access_hook.hpp"
#include "contract/logged.hpp"
#include "contract/numbered.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <thread>

/// Logs some of whose records do not come, or come late.
namespace barmap::contract {
namespace {

using namespace std::chrono_literals;

using log_missing_test = contract_test;

// A thread that has taken a number and was killed, or is late.
TEST_P(log_missing_test, a_record_that_nobody_writes_holds_the_others_up_for_a_while) {
    log_ring log(device::open(0), 16);
    auto const to = log.handle_for_thread();
    log_numbered(to, 0);
    for (int missing = 0; missing < 5; ++missing)
        gpu::add_relaxed(to.next, 1);
    log_numbered(to, 6);
    log_numbered(to, 7);
    expect_ids(log, 0, 1);
    EXPECT_TRUE(all_of(log).empty());
    EXPECT_EQ(log.lost(), 0u);
    ASSERT_TRUE(log.wait_for(60s));
    expect_ids(log, 6, 2);
    EXPECT_EQ(log.lost(), 5u);
    for (std::uint64_t number = 1; number < 6; ++number) {
        store_half(to, number, 0);
        store_half(to, number, 1);
    }
    EXPECT_TRUE(all_of(log).empty()) << "they come too late";
    log_numbered(to, 8);
    expect_ids(log, 8, 1);
}

// Nothing was missing before the one behind it came.
TEST_P(log_missing_test, the_time_for_a_record_begins_when_one_behind_it_is_seen) {
    log_ring log(device::open(0), 8);
    auto const to = log.handle_for_thread();
    gpu::add_relaxed(to.next, 1);
    EXPECT_TRUE(all_of(log).empty());
    std::this_thread::sleep_for(150ms);
    log_numbered(to, 1);
    EXPECT_TRUE(all_of(log).empty());
    store_half(to, 0, 0);
    store_half(to, 0, 1);
    expect_ids(log, 0, 2);
    EXPECT_EQ(log.lost(), 0u);
}

// A look of a reader that waits takes a short time, however large the ring is.
TEST_P(log_missing_test, one_look_for_what_is_behind_is_at_a_part_of_a_large_ring) {
    SKIP_WITHOUT_HOOK();
    constexpr std::uint32_t missing = 100'000;
    log_ring log(device::open(0), std::size_t{1} << 17);
    auto const to = log.handle_for_thread();
    gpu::add_relaxed(to.next, missing);
    log_numbered(to, missing);
    EXPECT_TRUE(log.read({}) == 0 && !log.wait_for(0ns));
    bool is_looked_at = false;
    access_hook hook;
    hook.at(slot_of(to, 60'000), [&] { is_looked_at = true; });
    std::this_thread::sleep_for(150ms);
    EXPECT_FALSE(log.wait_for(0ns));
    EXPECT_FALSE(is_looked_at);
    ASSERT_TRUE(log.wait_for(60s));
    EXPECT_TRUE(is_looked_at);
    expect_ids(log, missing, 1);
    EXPECT_EQ(log.lost(), missing);
}

TEST_P(log_missing_test, each_look_is_at_the_next_records) {
    log_ring log(device::open(0), std::size_t{1} << 17);
    auto const to = log.handle_for_thread();
    for (int looks = 0; looks < 3; ++looks) { // which go further on
        EXPECT_FALSE(log.wait_for(0ns));
        std::this_thread::sleep_for(110ms);
    }
    gpu::add_relaxed(to.next, 2);
    log_numbered(to, 2);
    EXPECT_FALSE(log.wait_for(0ns)) << "it has been seen just now";
    std::this_thread::sleep_for(110ms);
    EXPECT_TRUE(log.wait_for(0ns));
    expect_ids(log, 2, 1);
}

// What came to where the last looks have been.
TEST_P(log_missing_test, looks_at_a_large_ring_begin_again) {
    constexpr std::uint32_t missing = 20'000;
    log_ring log(device::open(0), std::size_t{1} << 15);
    auto const to = log.handle_for_thread();
    for (int looks = 0; looks < 3; ++looks) { // which go over all of it
        EXPECT_FALSE(log.wait_for(0ns));
        std::this_thread::sleep_for(110ms);
    }
    gpu::add_relaxed(to.next, missing);
    log_numbered(to, missing);
    ASSERT_TRUE(log.wait_for(20s));
    expect_ids(log, missing, 1);
    EXPECT_EQ(log.lost(), missing);
}

// Those that come between are not lost by it.
TEST_P(log_missing_test, what_has_come_before_the_record_behind_is_read_first) {
    log_ring log(device::open(0), 16);
    auto const to = log.handle_for_thread();
    gpu::add_relaxed(to.next, 5);
    log_numbered(to, 5);
    for (int looks = 0; looks < 2; ++looks) {
        EXPECT_FALSE(log.wait_for(0ns));
        std::this_thread::sleep_for(110ms);
    }
    for (unsigned const half : {0u, 1u})
        store_half(to, 2, half);
    ASSERT_TRUE(log.wait_for(0ns));
    std::array<log_record, 1> found{};
    ASSERT_EQ(log.read(found), 1u);
    EXPECT_EQ(found[0].id, 2u);
    ASSERT_TRUE(log.wait_for(60s));
    expect_ids(log, 5, 1);
    EXPECT_EQ(log.lost(), 4u);
}

TEST_P(log_missing_test, a_record_that_comes_late_comes_in_its_place) {
    log_ring log(device::open(0), 8);
    auto const to = log.handle_for_thread();
    gpu::add_relaxed(to.next, 1);
    log_numbered(to, 1);
    EXPECT_TRUE(all_of(log).empty());
    EXPECT_TRUE(all_of(log).empty());
    store_half(to, 0, 1);
    store_half(to, 0, 0);
    expect_ids(log, 0, 2);
}

BARMAP_OVER_KINDS_OF_MEMORY(log_missing_test);

} // namespace
} // namespace barmap::contract
