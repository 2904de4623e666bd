/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef GUEST_PROGRAMS_H
#define GUEST_PROGRAMS_H

/*
 * Runs what /programs names: in each line, the driver's mode or "either", and a command. Tells how many ended
 * otherwise than with 0.
 */
int programs_run(const char *mode);

#endif /* GUEST_PROGRAMS_H */
