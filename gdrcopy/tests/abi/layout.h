/* SPDX-License-Identifier: MIT */
/* What only a running program sees of the interface: where its bit-fields lie. C11 and C++20. */
#ifndef BARMAP_DROPIN_ABI_LAYOUT_H
#define BARMAP_DROPIN_ABI_LAYOUT_H

#include "table.h"

#include <string.h>

/* 0 if mapped and wc_mapping are bits 0 and 1 of the word at 36, and nothing else. */
static inline int check_bit_fields(void) {
    unsigned char expected[sizeof(gdr_info_t)], seen[sizeof(gdr_info_t)];
    for (unsigned bits = 0; bits < 4; ++bits) {
        gdr_info_t info;
        memset(&info, 0, sizeof info);
        info.mapped = bits & 1;
        info.wc_mapping = bits >> 1;
        memcpy(seen, &info, sizeof seen);
        memset(expected, 0, sizeof expected);
        uint32_t const word = bits; /* little-endian: the first field is the lowest bit */
        memcpy(expected + 36, &word, sizeof word);
        if (memcmp(expected, seen, sizeof seen) != 0)
            return 1;
    }
    return 0;
}

#endif /* BARMAP_DROPIN_ABI_LAYOUT_H */
