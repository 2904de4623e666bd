// SPDX-License-Identifier: MIT
#pragma once

#include "output/formatted.hpp"

#include <cstdio>
#include <optional>
#include <string_view>

namespace barmap::tool::gdrcopy {

/// Runs the program of gdrcopy that argv[0] names: its exit code, or nothing where that is the name
/// of none of them. Failures are reported on stderr and give 1.
[[nodiscard]] std::optional<int> run_by_name(int argc, char** argv);

/// Whether this is a name for run_by_name() that no other program has.
[[nodiscard]] bool is_gdrcopy_name(std::string_view name);

int run_sanity(int argc, char** argv);
int run_copybw(int argc, char** argv);
int run_copylat(int argc, char** argv);
int run_apiperf(int argc, char** argv);
int run_pplat(int argc, char** argv);
int run_validate(int argc, char** argv);

/// Writes to stdout, where the results go.
template <class... Arguments>
void say(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
    std::fputs(format_all(pattern, fmt::make_format_args(arguments...)).c_str(), stdout);
}

} // namespace barmap::tool::gdrcopy
