// SPDX-License-Identifier: MIT
#include <barmap/barmap.h>

char const* barmap_version(void) {
    return BARMAP_VERSION;
}
