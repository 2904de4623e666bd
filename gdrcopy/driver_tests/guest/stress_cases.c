// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Everything at once: threads that pin, map, write, split, move, unpin and free the same few slots, and
 * processes that fork and close meanwhile. A call need only return: the kernel's sanitizers, the counters at the
 * end, and the page tables show errors.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

#define THREADS 6
#define SLOTS 4

struct slot {
	_Atomic uint64_t address, handle;
	_Atomic(char *) at;
};

static struct slot slots[SLOTS];
static int gpu, driver;
static _Atomic bool stop;
static _Atomic long done;

static unsigned int next_random(unsigned int *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void pin_slot(struct slot *slot)
{
	uint64_t handle;

	if (slot->address && !driver_pin(driver, slot->address, 4 * GPU_PAGE, &handle)) {
		handle = __atomic_exchange_n((uint64_t *)&slot->handle, handle, __ATOMIC_RELAXED);
		driver_unpin(driver, handle);
	}
}

static void map_slot(struct slot *slot)
{
	char *at = driver_map(driver, slot->handle, 4 * GPU_PAGE);

	if (!at)
		return;
	check_write(at + 5);
	at = __atomic_exchange_n((char **)&slot->at, at, __ATOMIC_RELAXED);
	if (at)
		munmap(at, 4 * GPU_PAGE);
}

static void allocate_slot(struct slot *slot, unsigned int flags)
{
	struct fakegpu_alloc asked = { .size = 4 * GPU_PAGE, .flags = flags & FAKEGPU_SCATTERED };
	uint64_t old;

	if (ioctl(gpu, FAKEGPU_ALLOC, &asked))
		return;
	old = __atomic_exchange_n((uint64_t *)&slot->address, asked.address, __ATOMIC_RELAXED);
	if (old)
		gpu_free(gpu, old, flags % 50);
}

static void move_slot(struct slot *slot)
{
	char *at = __atomic_exchange_n((char **)&slot->at, NULL, __ATOMIC_RELAXED), *moved;

	if (!at)
		return;
	moved = mremap(at, 4 * GPU_PAGE, 4 * GPU_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		       mmap(NULL, 4 * GPU_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	if (moved == MAP_FAILED)
		moved = at;
	check_write(moved + GPU_PAGE);
	munmap(moved + GPU_PAGE, GPU_PAGE);
	check_write(moved);
	munmap(moved, 4 * GPU_PAGE);
}

static void use_in_child(void)
{
	pid_t child = fork();

	if (!child) {
		int other = open("/dev/gdrdrv", O_RDWR | O_CLOEXEC);
		uint64_t handle;

		driver_unpin(driver, 1);
		if (!driver_pin(other, slots[0].address, 4 * GPU_PAGE, &handle))
			driver_map(other, handle, GPU_PAGE);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void *work(void *argument)
{
	unsigned int state = (unsigned int)(uintptr_t)argument;
	struct gdrdrv_event events[8];

	while (!stop) {
		unsigned int choice = next_random(&state);
		struct slot *slot = &slots[choice / 16 % SLOTS];
		struct gdrdrv_info_v2_args info = { .handle = slot->handle };
		struct gdrdrv_request_mapping_args request = { .handle = slot->handle,
							       .mapping = choice / 64 % 2 };
		char *at = slot->at;

		switch (choice % 12) {
		case 0:
		case 1:
			pin_slot(slot);
			break;
		case 2:
		case 3:
			map_slot(slot);
			break;
		case 4:
			driver_unpin(driver, slot->handle);
			break;
		case 5:
			allocate_slot(slot, choice / 64);
			break;
		case 6:
			move_slot(slot);
			break;
		case 7:
			driver_call(driver, GDRDRV_GET_INFO_V2, &info);
			driver_call(driver, GDRDRV_REQUEST_MAPPING, &request);
			break;
		case 8:
			if (at)
				check_read(at + choice / 64 % (4 * GPU_PAGE));
			break;
		case 9:
			poll(&(struct pollfd){ .fd = driver, .events = POLLIN }, 1, 0);
			(void)!read(driver, events, sizeof(events));
			break;
		case 10:
			if (choice / 64 % 16 == 0)
				use_in_child();
			break;
		case 11:
			check_number("/proc/driver/gdrdrv/counters", "pins");
			break;
		}
		done++;
	}
	return NULL;
}

static void stress(int seconds)
{
	pthread_t threads[THREADS];
	int i;

	gpu = gpu_open();
	driver = driver_open();
	EXPECT_EQ(fcntl(driver, F_SETFL, O_NONBLOCK), 0);
	for (i = 0; i < SLOTS; i++)
		allocate_slot(&slots[i], i);
	for (i = 0; i < THREADS; i++)
		EXPECT_EQ(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1)), 0);
	while (seconds > 0)
		seconds = sleep(seconds);
	stop = true;
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("    %ld calls\n", (long)done);
}

CASE(stress_briefly, EITHER)
{
	stress(1);
}

CASE(stress_for_minutes, LONG | EITHER)
{
	const char *seconds = getenv("seconds");

	stress(seconds ? atoi(seconds) : 60);
}
