// SPDX-License-Identifier: MIT OR GPL-2.0
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

#define ROUNDS 200

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/* The stock driver makes no node. */
static void make_node(void)
{
	char line[128];
	FILE *devices;
	int number;

	if (access("/dev/gdrdrv", F_OK) == 0)
		return;
	devices = fopen("/proc/devices", "r");
	while (devices && fgets(line, sizeof(line), devices))
		if (sscanf(line, "%d gdrdrv", &number) == 1 && strstr(line, " gdrdrv"))
			mknod("/dev/gdrdrv", S_IFCHR | 0666, makedev(number, 0));
	if (devices)
		fclose(devices);
}

static void measure(const char *label, size_t size, uint64_t flags, bool touched)
{
	int gpu = gpu_open(), driver = driver_open(), i;
	uint64_t address = gpu_alloc(gpu, size, flags), handle;
	long long parts[4] = { 0 }, times[5];
	size_t at;

	for (i = 0; i < ROUNDS + 5; i++) {
		volatile char *bytes;

		if (i == 5)
			memset(parts, 0, sizeof(parts)); /* the first ones warm up */
		times[0] = now();
		EXPECT_EQ(driver_pin(driver, address, size, &handle), 0);
		times[1] = now();
		bytes = driver_map(driver, handle, size);
		EXPECT(bytes);
		for (at = 0; touched && at < size; at += 4096)
			bytes[at] = 1;
		times[2] = now();
		EXPECT_EQ(munmap((void *)bytes, size), 0);
		times[3] = now();
		EXPECT_EQ(driver_unpin(driver, handle), 0);
		times[4] = now();
		for (at = 0; at < 4; at++)
			parts[at] += times[at + 1] - times[at];
	}
	printf("COST %-24s%s pin %lld map %lld unmap %lld unpin %lld all %lld\n", label,
	       touched ? " touched" : "", parts[0] / ROUNDS, parts[1] / ROUNDS, parts[2] / ROUNDS,
	       parts[3] / ROUNDS, (parts[0] + parts[1] + parts[2] + parts[3]) / ROUNDS);
	close(driver);
	close(gpu);
}

void cost(void)
{
	int touched;

	make_node();
	for (touched = 0; touched < 2; touched++) {
		measure("64 KiB", GPU_PAGE, 0, touched);
		measure("1 MiB", 16 * GPU_PAGE, 0, touched);
		measure("8 MiB", 128 * GPU_PAGE, 0, touched);
		measure("1 MiB, scattered", 16 * GPU_PAGE, FAKEGPU_SCATTERED, touched);
	}
}
