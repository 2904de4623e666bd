// SPDX-License-Identifier: MIT
#include "victim.hpp"

#include <cstdint>

using CUdevice = int;
using CUdeviceptr = unsigned long long;
#include <vkgdr.h>

int main() {
    if (vkgdr_t const g = vkgdr_open(0, 0))
        vkgdr_close(g);
    return done();
}
