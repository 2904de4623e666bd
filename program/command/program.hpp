// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace barmap::tool {

/// The program barmap, or that of gdrcopy which argv[0] names. Failures are reported on stderr.
/// @return its exit code (exit_codes.hpp)
[[nodiscard]] int run_program(int argc, char** argv);

/// Runs this program again in place of this process; words.front() is its name. Returns only where
/// that fails, with errno.
void start_again(std::vector<std::string> const& words);

} // namespace barmap::tool
