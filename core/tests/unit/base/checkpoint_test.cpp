// SPDX-License-Identifier: MIT
#include "base/checkpoint.hpp"

#include <barmap/error.hpp>

#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <thread>

namespace barmap::checkpoint {
namespace {

using namespace std::chrono_literals;

/// Whether the process can be prepared now; it is not afterwards.
bool can_prepare() {
    try {
        prepare(1ms);
    } catch (error const& failure) {
        EXPECT_EQ(failure.code(), make_error_code(errc::copy_unfinished)) << failure.what();
        return false;
    }
    EXPECT_THROW(pass("a call"), error);
    restore();
    return true;
}

TEST(checkpoint, waits_for_the_calls_of_every_thread) {
    for (int i = 0; i < 3; ++i) { // later threads take the places of those that have ended
        std::promise<void> is_in, may_end;
        std::thread other([&] {
            pass const outer("a call");
            { pass const inner("a call of that call"); }
            is_in.set_value();
            may_end.get_future().wait();
        });
        is_in.get_future().wait();
        EXPECT_FALSE(can_prepare());
        { pass const own("a call"); }
        EXPECT_FALSE(can_prepare());
        may_end.set_value();
        other.join();
        EXPECT_TRUE(can_prepare());
    }
    pass const own("a call");
    EXPECT_FALSE(can_prepare());
}

/// Takes its time to go.
struct slow_survivor final : survivor {
    slow_survivor(std::promise<void>& begun, std::future<void> may_end)
        : begun_(begun), may_end_(std::move(may_end)) {}
    ~slow_survivor() {
        place_.leave();
        begun_.set_value();
        may_end_.wait();
    }
    void release() override {}
    void restore() override {}

private:
    std::promise<void>& begun_;
    std::future<void> may_end_;
    membership place_{*this};
};

TEST(checkpoint, waits_for_what_is_being_destroyed) {
    std::promise<void> begun, may_end;
    std::thread other([&] { slow_survivor const gone(begun, may_end.get_future()); });
    begun.get_future().wait();
    EXPECT_FALSE(can_prepare());
    may_end.set_value();
    other.join();
    EXPECT_TRUE(can_prepare());
}

} // namespace
} // namespace barmap::checkpoint
