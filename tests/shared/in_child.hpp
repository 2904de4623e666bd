// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace barmap::test {

/// Runs an action in a forked child, which then ends with this status.
/// @return the child's wait status
template <class Action>
[[nodiscard]] int in_child(int exit_status, Action&& action) {
#ifdef __SANITIZE_ADDRESS__
    // A child hangs in an allocator that another thread has locked, as one that starts does.
    ::usleep(50'000);
#endif
    pid_t const child = ::fork();
    if (child == 0) {
        // Plain endings: neither a sanitizer's report nor a test framework's.
        std::signal(SIGSEGV, SIG_DFL);
        std::signal(SIGBUS, SIG_DFL);
        action();
        ::_exit(exit_status);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

inline void expect_exit(int expected, int status) {
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == expected)
        << (WIFSIGNALED(status) ? "killed by signal " : "exit status ")
        << (WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

inline void expect_segmentation_fault(int status) {
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
}

} // namespace barmap::test
