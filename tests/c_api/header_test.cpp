// SPDX-License-Identifier: MIT
// The C header is C++11, too, twice and beside nothing else; and its functions are C's.
#include <barmap/barmap.h>

int main() {
    barmap_device* device = nullptr;
    barmap_pin_options how = barmap_pin_options();
    how.size = sizeof how;
    int (*const open)(int, barmap_device**) = barmap_open;
    return open(-1, &device) == BARMAP_ERROR_NO_DEVICE && barmap_device_count() > 0 ? 0 : 1;
}
