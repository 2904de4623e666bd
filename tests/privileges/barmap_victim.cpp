// SPDX-License-Identifier: MIT
#include "victim.hpp"

#include <barmap/device.hpp>

int main() {
    (void)barmap::device::count(); // loads the driver
    return done();
}
