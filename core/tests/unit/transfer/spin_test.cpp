// SPDX-License-Identifier: MIT
#include "transfer/engine/spin.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

thread_local int yields = 0;

} // namespace

/// Counts the calls of std::this_thread::yield() in this program.
extern "C" int sched_yield() noexcept {
    ++yields;
    return static_cast<int>(::syscall(SYS_sched_yield));
}

namespace barmap::engine {
namespace {

std::chrono::steady_clock::time_point soon() {
    return std::chrono::steady_clock::now() + std::chrono::seconds(10);
}

TEST(spin, lets_other_threads_run_when_it_takes_long) {
    yields = 0;
    EXPECT_EQ(spin([] { return yields == 3; }, [] { return false; }, soon()), copy_outcome::done);
}

TEST(spin, keeps_its_processor_at_first) {
    yields = 0;
    int looks = 0;
    EXPECT_EQ(spin([&] { return ++looks == 3000; }, [] { return false; }, soon()),
              copy_outcome::done);
    EXPECT_EQ(yields, 0);
}

TEST(spin, ends_with_a_failure_or_its_deadline) {
    EXPECT_EQ(spin([] { return false; }, [] { return true; }, soon()), copy_outcome::failed);
    EXPECT_EQ(spin([] { return false; }, [] { return false; }, std::chrono::steady_clock::now()),
              copy_outcome::late);
}

} // namespace
} // namespace barmap::engine
