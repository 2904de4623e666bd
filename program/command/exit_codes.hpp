// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

/// The exit statuses of the program. `barmap --help` prints the same list.
namespace barmap::tool {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;        ///< a check failed: wrong bytes, a stale value, a leak
inline constexpr int exit_usage = 2; ///< an option is wrong, or --output cannot be written
inline constexpr int exit_unavailable = 3;   ///< no GPU, a refusal, or stdout cannot be written
inline constexpr int exit_timed_out = 4;     ///< a GPU kernel did not answer in time
inline constexpr int exit_not_started = 127; ///< `run` or `sim` cannot start the program, as in a shell

// Their lines in help texts.
inline constexpr char const* usage_help =
    "2 an option or argument is wrong, or the file of --output cannot be written";
inline constexpr char const* unavailable_help =
    "3 there is no GPU, a driver call or backend refused, or the output could not be written to "
    "stdout";
inline std::string exit_code_help() {
    return "Exit codes:\n"
           "  0 done, and every check passed\n"
           "  1 a check failed\n  " +
           std::string(usage_help) + "\n  " + unavailable_help +
           "\n"
           "  4 a GPU kernel did not answer in time\n"
           "  127 the program of barmap run or sim cannot be started; otherwise they exit with "
           "its code";
}

/// Options that each are right but do not go together.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A GPU kernel that does not answer.
struct gpu_timeout : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace barmap::tool
