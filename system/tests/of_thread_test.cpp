// SPDX-License-Identifier: MIT
#include "system/of_thread.hpp"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>

/// What a thread keeps, and what code gets that runs after the thread's destructors.
namespace barmap::os {
namespace {

struct counted {
    int value = 7;
    static inline std::atomic<int> alive{0};
    counted() { ++alive; }
    ~counted() { --alive; }
};
using kept = of_thread<counted>;

TEST(of_thread_test, each_thread_has_its_own_until_it_ends) {
    ASSERT_NE(kept::get(), nullptr);
    kept::get()->value = 8;
    EXPECT_EQ(kept::get()->value, 8);
    std::thread([] {
        EXPECT_EQ(kept::get()->value, 7);
        EXPECT_EQ(counted::alive, 2);
    }).join();
    EXPECT_EQ(counted::alive, 1);
}

/// Ends the process where there is still one.
void expect_gone() {
    if (kept::get())
        std::_Exit(1);
}

struct gone_at_its_end {
    ~gone_at_its_end() { expect_gone(); }
};

TEST(of_thread_test, there_is_none_after_the_threads_destructors) {
    std::thread([] {
        static thread_local gone_at_its_end const made_first;
        (void)&made_first;
        EXPECT_NE(kept::get(), nullptr);
    }).join();
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            static gone_at_its_end const of_the_process;
            static thread_local gone_at_its_end const of_the_thread;
            (void)&of_the_thread;
            std::atexit(expect_gone);
            std::exit(kept::get() ? 0 : 2);
        },
        testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace barmap::os
