// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::test {

/// The signals that each thread of this process with this name has blocked, as the kernel says it:
/// signal n is bit n - 1.
[[nodiscard]] inline std::vector<std::uint64_t> blocked_by(std::string_view name) {
    std::vector<std::uint64_t> found;
    for (auto const& each : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream status(each.path() / "status"); // empty if the thread has ended
        bool is_named = false;
        for (std::string line; std::getline(status, line);) {
            is_named |= line == "Name:\t" + std::string(name);
            if (is_named && line.starts_with("SigBlk:"))
                found.push_back(std::stoull(line.substr(8), nullptr, 16));
        }
    }
    return found;
}

[[nodiscard]] inline bool is_in(int signal, std::uint64_t blocked) {
    return (blocked >> (signal - 1) & 1) != 0;
}

} // namespace barmap::test
