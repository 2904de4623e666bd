// SPDX-License-Identifier: MIT
#pragma once

#include "shared/line.hpp"
#include "system/fd.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace barmap::test {

/// A child of this process, and the line to it. It is killed in the end, unless it was waited for.
class peer : public line {
public:
    /// Forks one that does this, with its end of the line. Its exit status is 0 if no test failed
    /// in it and nothing was thrown.
    explicit peer(std::function<void(line const&)> const& action) : peer(pair(), action) {}
    peer(peer const&) = delete;
    peer& operator=(peer const&) = delete;
    ~peer() {
        if (child_ > 0)
            kill();
    }

    [[nodiscard]] pid_t number() const noexcept { return child_; }

    /// @return its wait status
    int wait() {
        int status = -1;
        ::waitpid(std::exchange(child_, -1), &status, 0);
        return status;
    }
    void kill() {
        ::kill(child_, SIGKILL);
        int const status = wait();
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    }

private:
    peer(ends of, std::function<void(line const&)> const& action)
        : line(of.near), socket_(of.near), child_(::fork()) {
        os::fd const far(of.far);
        if (child_ != 0)
            return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL); // if the test ends before it
        socket_ = {};
        try {
            action(line(of.far));
        } catch (std::exception const& failure) {
            std::fprintf(stderr, "in the other process: %s\n", failure.what());
            ::_exit(1);
        }
        ::_exit(testing::Test::HasFailure() ? 2 : 0);
    }

    os::fd socket_;
    pid_t child_;
};

} // namespace barmap::test
