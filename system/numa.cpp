// SPDX-License-Identifier: MIT
#include "system/numa.hpp"

#include <cstdio>
#include <unistd.h>

namespace barmap::os {

bool has_numa_node(int number) noexcept {
    char path[64];
    std::snprintf(path, sizeof path, "/sys/devices/system/node/node%d", number);
    return ::access(path, F_OK) == 0;
}

} // namespace barmap::os
