// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "shared/signals_of_threads.hpp"

#include <csignal>

/// The threads that the library starts leave the program's signals to the program.
namespace barmap::contract {
namespace {

TEST(thread_signals_test, the_watcher_of_a_channel_takes_none) {
    engine_machine machine("channel");
    batch_program p;
    p.expect_to_work(1);
    auto const watchers = test::blocked_by("barmap-watch");
    ASSERT_FALSE(watchers.empty());
    for (std::uint64_t const blocked : watchers)
        for (int const each : {SIGINT, SIGUSR1, SIGUSR2, SIGTERM, SIGCHLD})
            EXPECT_TRUE(test::is_in(each, blocked)) << each;
}

} // namespace
} // namespace barmap::contract
