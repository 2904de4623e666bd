// SPDX-License-Identifier: MIT
#pragma once

#include "output/formatted.hpp"

#include <cstdio>

namespace barmap::tool::gdrcopy {

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
