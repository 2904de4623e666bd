// SPDX-License-Identifier: MIT
#pragma once

#include "shared/line.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace barmap::gpu_test {

using test::line;

/// Where a run that other_run has started finds its line.
inline constexpr int line_of_this_run = 9;

/// A disabled test, run by a process of its own, which has not started CUDA.
class other_run : public line {
public:
    explicit other_run(std::string const& test) : other_run(test, pair()) {}
    other_run(other_run const&) = delete;
    other_run& operator=(other_run const&) = delete;
    ~other_run() {
        if (child_ > 0)
            kill();
        ::close(socket_);
    }

    /// @return its wait status
    int wait() {
        int status = -1;
        ::waitpid(std::exchange(child_, -1), &status, 0);
        return status;
    }
    void kill() {
        ::kill(child_, SIGKILL);
        EXPECT_TRUE(WIFSIGNALED(wait()));
    }

private:
    other_run(std::string const& test, ends of) : line(of.near), socket_(of.near) {
        child_ = ::fork();
        if (child_ == 0) {
            ::dup2(of.far, line_of_this_run);
            ::execl("/proc/self/exe", "gpu_test", "--gtest_also_run_disabled_tests",
                    ("--gtest_filter=" + test).c_str(), nullptr);
            ::_exit(127);
        }
        ::close(of.far);
    }

    int socket_;
    pid_t child_ = -1;
};

} // namespace barmap::gpu_test
