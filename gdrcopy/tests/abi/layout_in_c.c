/* SPDX-License-Identifier: MIT */
#include "layout.h"

int check_layout_in_c(void);

int check_layout_in_c(void) {
    return check_bit_fields();
}
