// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace barmap::tool {

/// Runs a program in the place of this one. The names of this program and of gdrcopy's programs
/// mean this very program, whether it is on PATH or not. Returns only where it cannot be started,
/// and says why.
[[nodiscard]] int run_instead(std::vector<std::string> const& program);

/// Says why to stderr. @return the exit code of a program that could not be started
int cannot_start(std::string const& why);

} // namespace barmap::tool
