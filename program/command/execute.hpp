// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <unistd.h>
#include <vector>

namespace barmap::tool {

/// Runs a program in the place of this process. It is looked for on PATH, unless its name has a slash; its own
/// name is words.front(). Returns only where that fails, with errno.
inline void execute(std::string const& program, std::vector<std::string> words) {
    std::vector<char*> pointers;
    for (std::string& each : words)
        pointers.push_back(each.data());
    pointers.push_back(nullptr);
    execvp(program.c_str(), pointers.data());
}

} // namespace barmap::tool
