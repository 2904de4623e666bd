// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A pin ends while it is mapped, or while its pages are put in: nothing of it may be reached afterwards. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

#define SIZE (16 * GPU_PAGE)
#define LARGE_SIZE (4096 * GPU_PAGE)
#define LARGE_STEP (32 * GPU_PAGE)

static struct pinned one;
static size_t step; /* from one touched byte to the next */
static bool revokes; /* the GPU driver ends it, instead of an unpin */
static _Atomic int turn, ended;

/* Spins a while, so that the end meets another moment in each round. */
static void *end_pins(void *argument)
{
	int seen = 0, now, i;

	while ((now = turn) >= 0) {
		if (now == seen) {
			sched_yield();
			continue;
		}
		seen = now;
		for (i = seen * 37 % 3000; i; i--)
			__asm__ volatile("" ::: "memory");
		if (revokes)
			EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
		else
			EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
		ended = seen;
	}
	return argument;
}

static void expect_gone(char *at)
{
	size_t offset;

	for (offset = 0; offset < one.size; offset += step)
		EXPECT_EQ(gpu_look(one.gpu, at + offset).present, 0);
	EXPECT_EQ(check_write(at), SIGBUS);
}

/* The pages are touched from the last one on, so that what is unmapped first is inserted last. */
static void touch(char *at)
{
	size_t offset;

	for (offset = one.size; offset; offset -= step)
		if (check_write(at + offset - step))
			break;
}

static void race(int rounds, size_t size, uint64_t flags)
{
	int round, mapped_in_time = 0, failures = check_failures;
	pthread_t other;

	turn = ended = 0;
	one = (struct pinned){ .gpu = gpu_open(), .driver = driver_open(), .size = size };
	step = size == LARGE_SIZE ? LARGE_STEP : GPU_PAGE;
	if (!revokes)
		one.address = gpu_alloc(one.gpu, one.size, flags);
	EXPECT_EQ(pthread_create(&other, NULL, end_pins, NULL), 0);
	for (round = 1; round <= rounds && check_failures == failures; round++) {
		bool early = round % 2; /* the pin may end before there is a mapping */
		char *at;

		if (revokes)
			one.address = gpu_alloc(one.gpu, one.size, flags);
		EXPECT_EQ(driver_pin(one.driver, one.address, one.size, &one.handle), 0);
		if (early)
			turn = round;
		at = driver_map(one.driver, one.handle, one.size);
		turn = round;
		if (at)
			touch(at);
		while (ended != round)
			sched_yield();
		if (at) {
			expect_gone(at);
			munmap(at, one.size);
			mapped_in_time++;
		}
		if (revokes)
			EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	}
	turn = -1;
	EXPECT_EQ(pthread_join(other, NULL), 0);
	EXPECT(mapped_in_time >= rounds / 2);
	close(one.driver);
	close(one.gpu);
}

CASE(mmap_and_faults_race_with_unpin, EITHER)
{
	race(60, SIZE, 0);
	race(60, SIZE, FAKEGPU_SCATTERED);
}

CASE(mmap_and_faults_race_with_the_callback, CALLBACK)
{
	revokes = true;
	race(60, SIZE, 0);
	race(60, SIZE, FAKEGPU_SCATTERED);
}

/* Large entries take so little time that it needs many of them. */
CASE(large_faults_race_with_unpin, PERSISTENT)
{
	if (getenv("large_entries"))
		race(30, LARGE_SIZE, 0);
}


/* Whoever has read the event finds the mapping gone, all of it: here a large one, which takes a while. */
CASE(the_event_comes_after_the_mapping_has_gone, CALLBACK)
{
	int round, gpu = gpu_open();
	size_t pages = gpu_stats(gpu).bar_size >> 18; /* a quarter of all */
	struct gdrdrv_event event;

	for (round = 0; round < 4; round++) {
		pthread_t other;

		step = GPU_PAGE;
		one = mapped((pages < 1024 ? pages : 1024) * GPU_PAGE, FAKEGPU_SCATTERED);
		touch((char *)one.words);
		EXPECT_EQ(fcntl(one.driver, F_SETFL, O_NONBLOCK), 0);
		revokes = true;
		turn = ended = 0;
		EXPECT_EQ(pthread_create(&other, NULL, end_pins, NULL), 0);
		turn = 1;
		while (read(one.driver, &event, sizeof(event)) < 0)
			EXPECT_EQ(errno, EAGAIN);
		EXPECT_EQ(gpu_look(one.gpu, (char *)one.words + one.size - 1).present, 0);
		turn = -1;
		EXPECT_EQ(pthread_join(other, NULL), 0);
		EXPECT_EQ(munmap((void *)one.words, one.size), 0);
		close(one.driver);
		close(one.gpu);
	}
}
