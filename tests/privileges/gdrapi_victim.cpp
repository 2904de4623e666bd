// SPDX-License-Identifier: MIT
#include "victim.hpp"

#include <gdrapi.h>

int main() {
    if (gdr_t const g = gdr_open())
        gdr_close(g);
    return done();
}
