// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

/// What a test starts is a program for the emulated processor, too: GoogleTest starts the test
/// program once more for some tests of a process's end. EMULATOR holds the emulator's command line.
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
