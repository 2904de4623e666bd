// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A process arms userfaultfd for its own mapping, for asynchronous write protection. Kernels from 6.7 on have that; some
 * also have it for mappings of devices, and the others are made to here. The kernel then puts markers where there are no
 * entries yet. Each access ends, with a signal or an error.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

/* Older headers lack them. */
#define WP_UNPOPULATED (1 << 13)
#define WP_ASYNC (1 << 15)

#define COUNTERS "/proc/driver/gdrdrv/counters"
#define MOST_FAULTS 20000 /* a fault that is repeated for ever has had as many soon; all of a case are below a hundred */

static long faults_before;

static bool has_endless_fault(void)
{
	return check_number(COUNTERS, "faults") - faults_before > MOST_FAULTS;
}

/* The descriptor that has armed all of the mapping and put in markers; -1 where the kernel does not have it. */
static int arm(const struct pinned *one)
{
	struct uffdio_range range = { .start = (uintptr_t)one->words, .len = one->size };
	struct uffdio_api api = { .api = UFFD_API, .features = WP_UNPOPULATED | WP_ASYNC };
	struct uffdio_register registered = { .range = range, .mode = UFFDIO_REGISTER_MODE_WP };
	struct uffdio_writeprotect protected = { .range = range, .mode = UFFDIO_WRITEPROTECT_MODE_WP };
	int armed = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (armed < 0)
		return -1;
	if (ioctl(armed, UFFDIO_API, &api)) {
		EXPECT_EQ(errno, EINVAL);
		close(armed);
		return -1;
	}
	gpu_seem_ordinary(one->gpu, one->words, true);
	EXPECT_EQ(ioctl(armed, UFFDIO_REGISTER, &registered), 0);
	gpu_seem_ordinary(one->gpu, one->words, false);
	EXPECT_EQ(ioctl(armed, UFFDIO_WRITEPROTECT, &protected), 0);
	return armed;
}

static void use_armed(void *argument)
{
	struct pinned one = mapped(*(size_t *)argument, 0);
	char *at = (char *)one.words;
	int armed = arm(&one), ends[2];

	if (armed < 0)
		return;
	/* Where the store does not end, system calls would not even with the process. */
	EXPECT_EQ(check_write(at), SIGBUS);
	EXPECT_EQ(check_read(at + one.size - 1), SIGBUS);
	EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
	EXPECT_EQ(write(ends[1], at, 8), -1);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(write(ends[1], "12345678", 8), 8);
	EXPECT_EQ(read(ends[0], at, 8), -1);
	EXPECT_EQ(errno, EFAULT);
	close(armed);
	EXPECT_EQ(check_write(at), 0);
	EXPECT_EQ(check_write(at + one.size - 1), 0);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	EXPECT_EQ(check_write(at), SIGBUS);
}

CASE(an_armed_mapping_gives_signals, EITHER)
{
	static size_t sizes[] = { 4 * GPU_PAGE, 4ul << 20 };
	unsigned int i;

	faults_before = check_number(COUNTERS, "faults");
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		EXPECT_EQ(check_signal_of_user(use_armed, &sizes[i], has_endless_fault), 0);
}
