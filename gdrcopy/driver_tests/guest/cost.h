/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef GUEST_COST_H
#define GUEST_COST_H

/*
 * Prints what it costs to pin, map, unmap and unpin, with and without touching the pages between, and what page
 * tables that takes, by the guest's clock: under QEMU's -icount shift=0 that counts instructions. Works on any gdrdrv.
 */
void cost(void);

#endif /* GUEST_COST_H */
