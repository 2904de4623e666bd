// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Every allocation of the kernel's on the way of a pin fails once, where the kernel can make it fail. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

#define FAIL_NTH "/proc/thread-self/fail-nth"
#define MOST 400

/* From open to close; the first error ends it. */
static int whole_life(uint64_t address)
{
	int driver = open("/dev/gdrdrv", O_RDWR | O_CLOEXEC), result;
	uint64_t handle;
	void *at;

	if (driver < 0)
		return errno;
	result = driver_pin(driver, address, 4 * GPU_PAGE, &handle);
	if (!result) {
		at = driver_map(driver, handle, 4 * GPU_PAGE);
		result = at ? 0 : errno;
		if (at)
			munmap(at, 4 * GPU_PAGE);
		EXPECT_EQ(driver_unpin(driver, handle), 0);
	}
	close(driver);
	return result;
}

CASE(allocations_fail_in_turn, EITHER)
{
	int gpu = gpu_open(), fail = open(FAIL_NTH, O_RDWR | O_CLOEXEC), failures = 0, nth;
	uint64_t address = gpu_alloc(gpu, 4 * GPU_PAGE, FAKEGPU_SCATTERED);
	char text[16];

	if (fail < 0)
		return; /* a kernel that cannot */
	EXPECT_EQ(check_set("/sys/kernel/debug/failslab/ignore-gfp-wait", "N"), 0);
	EXPECT_EQ(check_set("/sys/kernel/debug/failslab/verbose", "0"), 0);
	for (nth = 1; nth < MOST; nth++) {
		int result;
		long left;

		EXPECT(pwrite(fail, text, (size_t)snprintf(text, sizeof(text), "%d", nth), 0) > 0);
		result = whole_life(address);
		left = check_number(FAIL_NTH, NULL);
		EXPECT(pwrite(fail, "0", 1, 0) == 1);
		if (result)
			failures++;
		if (result && result != ENOMEM && result != ENFILE)
			check_failed(__FILE__, __LINE__, "out of memory", result, ENOMEM);
		EXPECT_EQ(gpu_stats(gpu).tables, 0);
		EXPECT_EQ(check_number("/proc/driver/gdrdrv/counters", "pins"), 0);
		if (!result && left > 0)
			break;
	}
	printf("    %d of %d calls failed\n", failures, nth);
	EXPECT(nth < MOST);
	EXPECT(failures > 5);
}
