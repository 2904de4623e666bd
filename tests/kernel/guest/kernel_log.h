/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef GUEST_KERNEL_LOG_H
#define GUEST_KERNEL_LOG_H

/* How many lines of the kernel's log are warnings that no case asks for; prints them. */
int kernel_log_is_dirty(void);

/* How much nobody points to any more, where the kernel has kmemleak; prints it. */
int kernel_log_leaks(void);

/* Prints the driver's coverage files, where the kernel has them, in hexadecimal. */
void kernel_log_coverage(void);

#endif /* GUEST_KERNEL_LOG_H */
