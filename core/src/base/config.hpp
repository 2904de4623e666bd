// SPDX-License-Identifier: MIT
#pragma once

#include "base/policy.hpp"

#include <barmap/report.hpp>

#include <string>
#include <string_view>
#include <vector>

/// The environment variables of barmap. The only code that reads them. Every variable is read
/// once, when the first of them is needed; a process that runs with more rights than its user
/// (setuid, setgid or file capabilities) ignores the environment. A variable BARMAP_... that
/// nothing reads is named on stderr at this time, once, with the name that was probably meant;
/// variables BARMAP_TEST_... belong to tests. So is a value of BARMAP_LOG that is not allowed: a
/// variable that only says more never stops a program.
/// settings() of <barmap/report.hpp> lists them for people. Thread rule: every function may be called
/// at once.
namespace barmap::config {

struct values {
    std::string backend;                      ///< BARMAP_BACKEND; empty: any
    std::string copy;                         ///< BARMAP_COPY; empty: the measured ones
    std::string engine;                       ///< BARMAP_ENGINE; empty: the fastest
    bool rings_by_cpu = false;                ///< BARMAP_DOORBELL
    std::vector<std::string> require;         ///< BARMAP_REQUIRE
    policy::values policy;                    ///< BARMAP_POLICY
    log_level log = log_level::off;           ///< BARMAP_LOG
    bool simulate = false;                    ///< BARMAP_SIM
    std::string sim_library, sim_hip_library; ///< BARMAP_SIM_LIBRARY, BARMAP_SIM_HIP_LIBRARY
};

/// Valid until the process ends. A variable whose value is not allowed has its default.
[[nodiscard]] values const& current();

/// Checks them. @throws error as barmap::expect_settings()
void expect_valid();

/// Reads the variables again, for a test that has changed them, by this function instead of the
/// system's if there is one. Not while other threads use barmap.
void read_again(char const* (*get)(char const* name) = nullptr);

} // namespace barmap::config
