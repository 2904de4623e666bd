// SPDX-License-Identifier: MIT
#include "system/thread.hpp"

#include "shared/signals_of_threads.hpp"

#include <condition_variable>
#include <csignal>
#include <gtest/gtest.h>
#include <mutex>
#include <unistd.h>

/// The library's threads leave the program's signals to the program.
namespace barmap::os {
namespace {

class thread_test : public testing::Test {
protected:
    ~thread_test() override {
        if (!running_.joinable())
            return;
        {
            std::lock_guard const hold(lock_);
            is_over_ = true;
        }
        changed_.notify_all();
        running_.join();
    }
    void start() {
        running_ = thread("barmap-test", [this] {
            std::unique_lock hold(lock_);
            has_begun_ = true;
            changed_.notify_all();
            changed_.wait(hold, [&] { return is_over_; });
        });
        std::unique_lock hold(lock_);
        changed_.wait(hold, [&] { return has_begun_; });
    }

private:
    std::mutex lock_;
    std::condition_variable changed_;
    bool has_begun_ = false, is_over_ = false;
    thread running_;
};

TEST_F(thread_test, a_program_that_waits_for_a_signal_gets_each) {
    start(); // before the program blocks the signal
    sigset_t awaited, before;
    ::sigemptyset(&awaited);
    ::sigaddset(&awaited, SIGUSR1);
    ::pthread_sigmask(SIG_BLOCK, &awaited, &before);
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(::kill(::getpid(), SIGUSR1), 0);
        timespec const most{10, 0};
        ASSERT_EQ(::sigtimedwait(&awaited, nullptr, &most), SIGUSR1);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(thread_test, blocks_all_but_what_the_cpu_raises_and_has_a_name) {
    start();
    auto const of = test::blocked_by("barmap-test");
    ASSERT_EQ(of.size(), 1u);
    for (int const each : {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGCHLD,
                           SIGPROF, SIGIO, SIGRTMAX}) // an emulator has SIGRTMIN for itself
        EXPECT_TRUE(test::is_in(each, of.front())) << each;
    for (int const each : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
        EXPECT_FALSE(test::is_in(each, of.front())) << each;
}

TEST_F(thread_test, leaves_the_callers_signals_as_they_were) {
    sigset_t before, behind;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
    start();
    ::pthread_sigmask(SIG_SETMASK, nullptr, &behind);
    for (int each = 1; each < 32; ++each)
        EXPECT_EQ(::sigismember(&before, each), ::sigismember(&behind, each)) << each;
}

} // namespace
} // namespace barmap::os
