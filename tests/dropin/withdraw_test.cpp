// SPDX-License-Identifier: MIT
#include "copy_guard.hpp"

#include "copy/plan.hpp"
#include "copy/transfer.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

/// What libgdrapi's copies promise to whoever unmaps: once withdraw() has returned, none goes on.
/// On ordinary memory that says it is write-combining, since the simulated GPU's never is.
namespace barmap::gdrapi {
namespace {

struct into {
    static void move(std::byte* mapped, std::byte const* host, std::size_t bytes,
                     copy_plan const& plan) noexcept {
        copy::write_bytes(mapped, host, bytes, plan);
    }
    static bool move_word(std::byte* mapped, std::byte const* host, std::size_t bytes,
                          unsigned long const& current, unsigned long expected) noexcept {
        return store_word_if(mapped, host, bytes, current, expected);
    }
};

struct out_of {
    static void move(std::byte const* mapped, std::byte* host, std::size_t bytes,
                     copy_plan const& plan) noexcept {
        copy::read_bytes(host, mapped, bytes, plan);
    }
    static bool move_word(std::byte const* mapped, std::byte* host, std::size_t bytes,
                          unsigned long const& current, unsigned long expected) noexcept {
        return load_word_if(host, mapped, bytes, current, expected);
    }
};

class withdraw_test : public testing::TestWithParam<std::size_t> {
protected:
    withdraw_test()
        : memory_(4096),
          plan_(copy::plan_of_one(copy::find_routine("portable"), cache_kind::write_combining)) {
        slot_ = &allocate_slot(handle_);
        slot_->size = memory_.size();
        slot_->plan = &plan_;
        slot_->kind = cache_kind::write_combining;
        slot_->data = memory_.data();
    }
    ~withdraw_test() override { free_slot(handle_); }

    std::vector<std::byte> memory_;
    copy_plan plan_;
    unsigned long handle_ = 0;
    slot* slot_ = nullptr;
};

TEST_P(withdraw_test, nothing_is_stored_afterwards) {
    constexpr int rounds = 200;
    std::atomic<bool> stop{false};
    std::atomic<long> done{0}, refused{0};
    std::vector<std::thread> threads;
    for (unsigned char i = 1; i <= 2 * std::max(1u, std::thread::hardware_concurrency()); ++i)
        threads.emplace_back([&, i] {
            std::vector<std::byte> const mine(GetParam(), std::byte{i});
            while (!stop.load(std::memory_order_relaxed)) {
                int const answer = copy_through<into>(
                    handle_, memory_.data(), const_cast<std::byte*>(mine.data()), mine.size());
                ++(answer == 0 ? done : refused);
            }
        });
    int landed_late = 0;
    for (int round = 0; round < rounds; ++round) {
        std::fill(memory_.begin(), memory_.end(), std::byte{0});
        publish(*slot_, handle_);
        std::this_thread::yield();
        ASSERT_TRUE(withdraw(*slot_));
        std::fill(memory_.begin(), memory_.end(), std::byte{0xff});
        std::this_thread::yield();
        landed_late += !std::all_of(memory_.begin(), memory_.end(),
                                    [](std::byte each) { return each == std::byte{0xff}; });
    }
    stop = true;
    for (std::thread& each : threads)
        each.join();
    EXPECT_EQ(landed_late, 0);
    EXPECT_GT(done, 0);
    EXPECT_GT(refused, 0);
}

TEST_P(withdraw_test, a_copy_is_right_or_refused) {
    std::vector<std::byte> sent(GetParam(), std::byte{7}), seen(GetParam());
    publish(*slot_, handle_);
    EXPECT_EQ(copy_through<into>(handle_, memory_.data() + 64, sent.data(), sent.size()), 0);
    EXPECT_EQ(copy_through<out_of>(handle_, memory_.data() + 64, seen.data(), seen.size()), 0);
    EXPECT_EQ(seen, sent);
    EXPECT_EQ(memory_[63], std::byte{0});
    EXPECT_EQ(memory_[64 + sent.size()], std::byte{0});
    EXPECT_EQ(copy_through<into>(handle_, memory_.data() + memory_.size() - sent.size() + 1,
                                 sent.data(), sent.size()),
              EINVAL);
    EXPECT_EQ(copy_through<into>(handle_ + 1, memory_.data(), sent.data(), sent.size()), EINVAL);
    EXPECT_EQ(copy_through<into>(0, memory_.data(), sent.data(), sent.size()), EINVAL);
    EXPECT_EQ(copy_through<into>(handle_, memory_.data(), nullptr, sent.size()), EINVAL);
    EXPECT_TRUE(withdraw(*slot_));
    EXPECT_EQ(copy_through<out_of>(handle_, memory_.data(), seen.data(), seen.size()), EINVAL);
}

TEST_P(withdraw_test, a_thread_that_ended_inside_a_copy_is_not_waited_for) {
    publish(*slot_, handle_);
    std::thread([&] {
        // As if a copy had been left by longjmp: the announcement stays.
        EXPECT_TRUE(detail::announce_slowly(*slot_));
    }).join();
    EXPECT_TRUE(withdraw(*slot_));
}

INSTANTIATE_TEST_SUITE_P(bytes, withdraw_test, testing::Values(1, 2, 4, 8, 24),
                         [](auto const& info) { return std::to_string(info.param); });

} // namespace
} // namespace barmap::gdrapi
