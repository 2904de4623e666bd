/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef GUEST_KERNEL_LOG_H
#define GUEST_KERNEL_LOG_H

/*
 * How many lines of the kernel's log since the last call are warnings; prints them. Those that contain what the
 * case has provoked do not count, if that is not NULL.
 */
int kernel_log_dirt(const char *provoked);

/* The same for the last time: 1 or 0. */
int kernel_log_end(void);

/* How much nobody points to any more, where the kernel has kmemleak; prints it. */
int kernel_log_leaks(void);

/* Prints the driver's coverage files, where the kernel has them, in hexadecimal. */
void kernel_log_coverage(void);

#endif /* GUEST_KERNEL_LOG_H */
