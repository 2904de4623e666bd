// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

/// Starts the program in the emulator, whose command line is in EMULATOR. GoogleTest starts the test
/// program again for some tests that expect a process to end.
extern "C" int execv(char const* path, char* const* arguments) noexcept {
    std::vector<char*> line;
    std::string emulator = std::getenv("EMULATOR") ? std::getenv("EMULATOR") : "";
    for (char* word = std::strtok(emulator.data(), " "); word; word = std::strtok(nullptr, " "))
        line.push_back(word);
    line.push_back(const_cast<char*>(path));
    do
        line.push_back(*++arguments);
    while (*arguments);
    return ::execvp(line.front(), line.data());
}
