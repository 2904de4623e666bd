// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::config {

/// A sentence about each variable of the environment that begins with BARMAP_ and that nothing
/// reads: it names the variable, and the one that was probably meant.
/// @param environment as the system's: NAME=VALUE, the last one null
/// @param librarys    names of the variables that the library reads
[[nodiscard]] std::vector<std::string>
unknown_variables(char const* const* environment, std::span<std::string_view const> librarys);

} // namespace barmap::config
