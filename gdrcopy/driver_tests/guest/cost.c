// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/* The stock driver makes no node. */
static void make_node(void)
{
	if (access("/dev/gdrdrv", F_OK))
		mknod("/dev/gdrdrv", S_IFCHR | 0666, makedev((unsigned int)driver_major(), 0));
}

enum part { PIN, MAP, FIRST_TOUCH, TOUCHES, UNMAP, UNPIN, PARTS };
static const char *const names[PARTS] = { "pin", "map", "first touch", "other touches", "unmap", "unpin" };

#define WARM_UP 2
#define MOST_ROUNDS 51
#define TAKE(part, work)                                          \
	do {                                                      \
		long long begin_ = now();                         \
		work;                                             \
		taken[part][i < 0 ? 0 : i] = now() - begin_;      \
	} while (0)

static int compare(const void *left, const void *right)
{
	long long one = *(const long long *)left, other = *(const long long *)right;

	return (one > other) - (one < other);
}

/* The median, since the kernel does something of its own now and then. */
static long long median(long long *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[count / 2];
}

static long page_tables(void)
{
	return check_number("/proc/self/status", "VmPTE:");
}

static void touch(volatile char *bytes, size_t begin, size_t end)
{
	for (; begin < end; begin += 4096)
		bytes[begin] = 1;
}

static void measure(const char *label, size_t size, uint64_t flags, int rounds, bool touched)
{
	int gpu = gpu_open(), driver = driver_open(), i;
	uint64_t address = gpu_alloc(gpu, size, flags), handle;
	static long long taken[PARTS][MOST_ROUNDS];
	long tables = 0;

	memset(taken, 0, sizeof(taken));
	for (i = -WARM_UP; i < rounds; i++) {
		long before = page_tables();
		volatile char *bytes;

		TAKE(PIN, EXPECT_EQ(driver_pin(driver, address, size, &handle), 0));
		TAKE(MAP, bytes = driver_map(driver, handle, size));
		EXPECT(bytes);
		if (touched) {
			TAKE(FIRST_TOUCH, bytes[0] = 1);
			TAKE(TOUCHES, touch(bytes, 4096, size));
		}
		tables = page_tables() - before;
		TAKE(UNMAP, EXPECT_EQ(munmap((void *)bytes, size), 0));
		TAKE(UNPIN, EXPECT_EQ(driver_unpin(driver, handle), 0));
	}
	printf("COST %s%s:", label, touched ? ", touched" : "");
	for (i = 0; i < PARTS; i++)
		printf(" %s %lld,", names[i], median(taken[i], rounds));
	printf(" page tables %ld KiB\n", tables);
	close(driver);
	close(gpu);
}

void cost(void)
{
	int touched;

	make_node();
	for (touched = 0; touched < 2; touched++) {
		measure("64 KiB", GPU_PAGE, 0, MOST_ROUNDS, touched);
		measure("8 MiB", 128 * GPU_PAGE, 0, 21, touched);
		measure("8 MiB, scattered", 128 * GPU_PAGE, FAKEGPU_SCATTERED, 21, touched);
		measure("1 GiB", 16384 * GPU_PAGE, 0, 3, touched);
	}
}
