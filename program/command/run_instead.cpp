// SPDX-License-Identifier: MIT
#include "command/run_instead.hpp"

#include "command/execute.hpp"
#include "command/exit_codes.hpp"
#include "command/other_programs.hpp"
#include "command/program.hpp"
#include "output/formatted.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace barmap::tool {
namespace {

/// Whether the name means this program. Some of its names are too general: another program may have
/// them.
bool is_this_program(std::string const& name) {
    auto const is_it = [&](other_program const& known) { return known.name == name; };
    return name == "barmap" ||
           (name.starts_with("gdrcopy_") && std::ranges::any_of(other_programs(), is_it));
}

} // namespace

int cannot_start(std::string const& why) {
    std::fputs(formatted("barmap: {}\n", why).c_str(), stderr);
    return exit_not_started;
}

int run_instead(std::vector<std::string> const& program) {
    if (is_this_program(program.front()))
        start_again(program);
    else
        execute(program.front(), program);
    return cannot_start(formatted("cannot start {}: {}", program.front(), std::strerror(errno)));
}

} // namespace barmap::tool
