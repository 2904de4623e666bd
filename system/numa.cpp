// SPDX-License-Identifier: MIT
#include "system/numa.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <unistd.h>

namespace barmap::os {
namespace {

bool ask(int number) noexcept {
    char path[64];
    std::snprintf(path, sizeof path, "/sys/devices/system/node/node%d", number);
    return ::access(path, F_OK) == 0;
}

} // namespace

bool has_numa_node(int number) noexcept {
    enum answer : unsigned char { unknown, no, yes };
    static constinit std::array<std::atomic<answer>, 64> known{};
    if (number < 0)
        return false;
    auto const place = static_cast<std::size_t>(number);
    if (place >= known.size())
        return ask(number);
    answer here = known[place].load(std::memory_order_relaxed);
    if (here == unknown) {
        here = ask(number) ? yes : no;
        known[place].store(here, std::memory_order_relaxed);
    }
    return here == yes;
}

} // namespace barmap::os
