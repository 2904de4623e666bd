// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Entries of both sizes for the same 2 MiB: a program excludes large ones (PR_SET_THP_DISABLE) while other threads'
 * faults are on their way. The kernel warns where either is inserted over the other.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

#define LARGE (2ul << 20)

static struct pinned one;

/* False where there are no large entries, or the kernel lets no call wait. */
static bool can_pause(const char *function)
{
	int code = gpu_pause(one.gpu, 0, function);

	EXPECT(!code || code == EOPNOTSUPP);
	return !code;
}

static void exclude_large_entries(bool on)
{
	EXPECT_EQ(prctl(PR_SET_THP_DISABLE, on, 0, 0, 0), 0);
}

static void expect_size(size_t size)
{
	EXPECT_EQ(gpu_look(one.gpu, one.words).size, size);
}

/* One thread's store to a place of its own in the 2 MiB. */
struct store {
	pthread_t thread;
	int place;
	int continues; /* the pause that ends when it has stored, or -1 */
	_Atomic int id;
	_Atomic bool done;
};

static void *do_store(void *argument)
{
	struct store *store = argument;

	store->id = (int)syscall(SYS_gettid);
	EXPECT_EQ(check_write((char *)one.words + store->place * LARGE / 8), 0);
	store->done = true;
	if (store->continues >= 0)
		gpu_continue(one.gpu, (unsigned int)store->continues);
	return NULL;
}

static void start(struct store *store)
{
	EXPECT_EQ(pthread_create(&store->thread, NULL, do_store, store), 0);
}

static void end(struct store *store)
{
	EXPECT_EQ(pthread_join(store->thread, NULL), 0);
}

/* Stops a store in the driver's or the kernel's function for large entries, and then excludes them. */
static bool stop_in(const char *function, struct store *large)
{
	one = mapped(LARGE, 0);
	if (!can_pause(function))
		return false;
	start(large);
	gpu_wait_paused(one.gpu, 0);
	exclude_large_entries(true);
	return true;
}

/* The kernel decides for a large entry, and small ones are there before the driver is asked. */
static void small_ones_come_first(void *unused)
{
	struct store large = { .place = 0, .continues = -1 };

	(void)unused;
	if (!stop_in("gdrdrv_vma_huge_fault", &large))
		return;
	EXPECT_EQ(check_write((char *)one.words + LARGE / 2), 0);
	gpu_continue(one.gpu, 0);
	end(&large);
	expect_size((size_t)getpagesize());
}

/* The kernel decides for small entries, and a large one is there before the driver is asked. */
static void a_large_one_comes_first(void *unused)
{
	struct store large = { .place = 0, .continues = 1 }, small = { .place = 1, .continues = -1 };

	(void)unused;
	if (!stop_in("gdrdrv_vma_huge_fault", &large))
		return;
	EXPECT_EQ(gpu_pause(one.gpu, 1, "gdrdrv_vma_fault"), 0);
	start(&small);
	gpu_wait_paused(one.gpu, 1);
	gpu_continue(one.gpu, 0);
	end(&large);
	end(&small);
	expect_size(LARGE);
}

/* Small entries are not inserted while a large one is: their fault waits, uninterruptibly, for the driver's lock. */
static void both_are_inserted_at_once(void *unused)
{
	struct store large = { .place = 0, .continues = -1 }, small = { .place = 1, .continues = -1 };

	(void)unused;
	if (!stop_in("vmf_insert_pfn_pmd", &large))
		return;
	start(&small);
	while (!small.done && (!small.id || check_state(small.id) != 'D'))
		sched_yield();
	EXPECT(!small.done);
	gpu_continue(one.gpu, 0);
	end(&large);
	end(&small);
	expect_size(LARGE);
}

static void as_user(void (*run)(void *))
{
	if (getenv("large_entries"))
		EXPECT_EQ(check_signal_of_user(run, NULL, NULL), 0);
}

CASE(small_entries_before_a_large_one, EITHER)
{
	as_user(small_ones_come_first);
}

CASE(a_large_entry_before_small_ones, EITHER)
{
	as_user(a_large_one_comes_first);
}

CASE(small_entries_during_a_large_one, EITHER)
{
	as_user(both_are_inserted_at_once);
}

#define STORING 4

static pthread_barrier_t barrier;
static char *_Atomic fresh; /* NULL after the last round */

/* Two of them change what the program excludes. */
static void *store_in_rounds(void *argument)
{
	int place = *(int *)argument;
	char *at;

	for (;;) {
		pthread_barrier_wait(&barrier);
		at = fresh;
		if (!at)
			return NULL;
		if (place < 2)
			exclude_large_entries(true);
		EXPECT_EQ(check_write(at + place * LARGE / STORING), 0);
		if (place < 2)
			exclude_large_entries(false);
		pthread_barrier_wait(&barrier);
	}
}

static _Atomic bool stop;

/* Takes the driver's lock for writing again and again, behind which faults wait. */
static void *request_mappings(void *unused)
{
	struct gdrdrv_request_mapping_args request = { .handle = one.handle };

	while (!stop)
		driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &request);
	return unused;
}

static void race(void *rounds)
{
	pthread_t threads[STORING], requests;
	int places[STORING], i;

	one = pinned(LARGE, 0);
	EXPECT_EQ(pthread_barrier_init(&barrier, NULL, STORING + 1), 0);
	EXPECT_EQ(pthread_create(&requests, NULL, request_mappings, NULL), 0);
	for (i = 0; i < STORING; i++) {
		places[i] = i;
		EXPECT_EQ(pthread_create(&threads[i], NULL, store_in_rounds, &places[i]), 0);
	}
	for (i = 0; i < *(int *)rounds; i++) {
		fresh = driver_map(one.driver, one.handle, LARGE);
		EXPECT(fresh);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		EXPECT_EQ(munmap(fresh, LARGE), 0);
	}
	fresh = NULL;
	pthread_barrier_wait(&barrier);
	for (i = 0; i < STORING; i++)
		EXPECT_EQ(pthread_join(threads[i], NULL), 0);
	stop = true;
	EXPECT_EQ(pthread_join(requests, NULL), 0);
}

CASE(entries_of_both_sizes_race, EITHER)
{
	int rounds = 50;

	EXPECT_EQ(check_signal_of_user(race, &rounds, NULL), 0);
}

CASE(entries_of_both_sizes_race_for_long, LONG | EITHER)
{
	int rounds = 1000;

	EXPECT_EQ(check_signal_of_user(race, &rounds, NULL), 0);
}
