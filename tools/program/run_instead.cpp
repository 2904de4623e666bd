// SPDX-License-Identifier: MIT
#include "program/run_instead.hpp"

#include "gdrcopy/programs.hpp"
#include "output/formatted.hpp"
#include "program/execute.hpp"
#include "program/exit_codes.hpp"
#include "program/program.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace barmap::tool {

int cannot_start(std::string const& why) {
    std::fputs(formatted("barmap: {}\n", why).c_str(), stderr);
    return exit_not_started;
}

int run_instead(std::vector<std::string> const& program) {
    if (program.front() == "barmap" || gdrcopy::is_gdrcopy_name(program.front()))
        start_again(program);
    else
        execute(program.front(), program);
    return cannot_start(formatted("cannot start {}: {}", program.front(), std::strerror(errno)));
}

} // namespace barmap::tool
