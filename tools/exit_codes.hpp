// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

/// The exit statuses of the program. `barmap --help` prints the same list.
namespace barmap::tool {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;        ///< a check failed: wrong bytes, a stale value, a leak
inline constexpr int exit_usage = 2;         ///< an option or argument is wrong
inline constexpr int exit_unavailable = 3;   ///< no GPU, a refusal, or stdout cannot be written
inline constexpr int exit_timed_out = 4;     ///< a GPU kernel did not answer in time
inline constexpr int exit_not_started = 127; ///< `sim` cannot start the program, as in a shell

inline constexpr char const* exit_code_help =
    "Exit codes: 0 done, and every check passed; 1 a check failed; 2 wrong options; 3 no GPU, a\n"
    "driver call or backend refused, or the output could not be written; 4 a GPU kernel did not\n"
    "answer in time. `barmap sim` exits as the program that it runs, or with 127 if that cannot "
    "be\n"
    "started.";

/// Options that each are right but do not go together.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A GPU kernel that does not answer.
struct gpu_timeout : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace barmap::tool
