// SPDX-License-Identifier: MIT
#pragma once

#include "shared/peer.hpp"

#include <string>
#include <unistd.h>

namespace barmap::gpu_test {

using test::line;

/// Where a run that other_run has started finds its line.
inline constexpr int line_of_this_run = 9;

/// A disabled test, run by a process of its own, which has not started CUDA.
class other_run : public test::peer {
public:
    explicit other_run(std::string const& test)
        : peer([&](line const& to_test) {
              ::dup2(to_test.socket(), line_of_this_run);
              ::execl("/proc/self/exe", "gpu_test", "--gtest_also_run_disabled_tests",
                      ("--gtest_filter=" + test).c_str(), nullptr);
              ::_exit(127);
          }) {}
};

} // namespace barmap::gpu_test
