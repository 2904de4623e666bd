// SPDX-License-Identifier: MIT
// For the stand-alone program; in Python's extension, python/binding/program.cpp does this.
#include "command/execute.hpp"
#include "command/program.hpp"

void barmap::tool::start_again(std::vector<std::string> const& words) {
    execute("/proc/self/exe", words);
}
