// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Memory that the GPU driver revokes, and the events that report it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

static void set_nonblocking(int driver)
{
	EXPECT_EQ(fcntl(driver, F_SETFL, O_NONBLOCK), 0);
}

static bool is_readable(int driver)
{
	struct pollfd poll_for = { .fd = driver, .events = POLLIN };

	return poll(&poll_for, 1, 0) == 1 && poll_for.revents == POLLIN;
}

static void expect_event(int driver, uint64_t handle, uint64_t va, uint64_t size, uint64_t sequence)
{
	struct gdrdrv_event event = { 0 };

	EXPECT_EQ(read(driver, &event, sizeof(event)), sizeof(event));
	EXPECT_EQ(event.handle, handle);
	EXPECT_EQ(event.reason, GDRDRV_EVENT_REVOKED);
	EXPECT_EQ(event.reserved, 0);
	EXPECT_EQ(event.va, va);
	EXPECT_EQ(event.size, size);
	EXPECT_EQ(event.sequence, sequence);
}

CASE(memory_is_revoked, CALLBACK)
{
	struct pinned one = mapped(4 * GPU_PAGE, 0);

	EXPECT_EQ(check_write(one.words), 0);
	EXPECT_EQ(driver_callback_flag(one.driver, one.handle), 0);
	EXPECT(!is_readable(one.driver));
	EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
	EXPECT_EQ(driver_callback_flag(one.driver, one.handle), 1);
	EXPECT_EQ(check_write(one.words), SIGBUS);
	EXPECT_EQ(driver_info(one.driver, one.handle).mapping, GDRDRV_MAPPING_NONE);
	EXPECT_EQ(driver_info(one.driver, one.handle).mapped_size, one.size);
	EXPECT(is_readable(one.driver));
	expect_event(one.driver, one.handle, one.address, one.size, 1);
	EXPECT(!is_readable(one.driver));
	EXPECT_EQ(munmap((void *)one.words, one.size), 0);
	EXPECT(!driver_map(one.driver, one.handle, one.size));
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
}

CASE(persistent_memory_stays, PERSISTENT)
{
	struct pinned one = mapped(4 * GPU_PAGE, 0);
	struct gdrdrv_event event;
	struct pollfd poll_for = { .fd = one.driver, .events = POLLIN };

	one.words[3] = 33;
	EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
	EXPECT_EQ(one.words[3], 33);
	EXPECT_EQ(driver_callback_flag(one.driver, one.handle), 0);
	EXPECT_EQ(poll(&poll_for, 1, 0), 0);
	EXPECT_EQ(read(one.driver, &event, sizeof(event)), -1);
	EXPECT_EQ(errno, EOPNOTSUPP);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	EXPECT_EQ(gpu_stats(one.gpu).allocations, 0);
}

CASE(requests_after_revocation, CALLBACK)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	struct gdrdrv_request_mapping_args args = { .handle = one.handle,
						    .mapping = GDRDRV_MAPPING_WRITE_COMBINING };

	EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
	EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &args), EINVAL);
	args.mapping = GDRDRV_MAPPING_NONE;
	EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &args), 0);
}

/* Split and moved VMAs, as for unpin. */
CASE(revocation_after_mremap, CALLBACK)
{
	struct pinned one = mapped(4 * GPU_PAGE, FAKEGPU_SCATTERED);
	char *bytes = (char *)one.words, *half = bytes + one.size / 2, *moved;

	EXPECT_EQ(check_write(bytes), 0);
	EXPECT_EQ(check_write(half), 0);
	EXPECT_EQ(munmap(bytes + GPU_PAGE, GPU_PAGE), 0);
	moved = mremap(half, GPU_PAGE, GPU_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		       mmap(NULL, GPU_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	EXPECT_EQ(check_write(moved), 0);
	EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
	EXPECT_EQ(check_write(bytes), SIGBUS);
	EXPECT_EQ(check_write(moved), SIGBUS);
	EXPECT_EQ(check_write(half + GPU_PAGE), SIGBUS);
}

CASE(refused_reads, CALLBACK)
{
	void *nowhere = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pinned one = pinned(GPU_PAGE, 0);
	struct gdrdrv_event event;

	EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
	EXPECT_EQ(read(one.driver, &event, sizeof(event) - 1), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(read(one.driver, &event, 0), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(read(one.driver, nowhere, sizeof(event)), -1);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(pread(one.driver, &event, sizeof(event), 0), -1);
	EXPECT_EQ(errno, ESPIPE);
	/* None of them lost it. */
	expect_event(one.driver, one.handle, one.address, one.size, 1);
}

CASE(reading_without_waiting, CALLBACK)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	struct gdrdrv_event event;

	set_nonblocking(one.driver);
	EXPECT_EQ(read(one.driver, &event, sizeof(event)), -1);
	EXPECT_EQ(errno, EAGAIN);
	EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
	expect_event(one.driver, one.handle, one.address, one.size, 1);
	EXPECT_EQ(read(one.driver, &event, sizeof(event)), -1);
	EXPECT_EQ(errno, EAGAIN);
}

CASE(several_events_in_one_read, CALLBACK)
{
	struct pinned one = pinned(4 * GPU_PAGE, 0);
	struct gdrdrv_event events[10];
	uint64_t handles[4];
	char odd[sizeof(events[0]) * 2 + 7];
	int i;

	handles[0] = one.handle;
	for (i = 1; i < 4; i++)
		EXPECT_EQ(driver_pin(one.driver, one.address + i * GPU_PAGE, GPU_PAGE, &handles[i]), 0);
	EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
	EXPECT_EQ(driver_unpin(one.driver, handles[1]), 0); /* its event stays */
	EXPECT_EQ(read(one.driver, odd, sizeof(odd)), 2 * sizeof(events[0]));
	EXPECT_EQ(read(one.driver, events, sizeof(events)), 2 * sizeof(events[0]));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(events[i].handle, handles[2 + i]);
		EXPECT_EQ(events[i].sequence, 3 + i);
	}
}

/* 300 events and room for 256: those that came first, then one record for the rest. */
CASE(overflow_is_told, CALLBACK)
{
	struct pinned one = pinned(GPU_PAGE, 0), again;
	struct gdrdrv_event event;
	long lost = check_number("/proc/driver/gdrdrv/counters", "events_lost");
	uint64_t handle;
	int i;

	set_nonblocking(one.driver);
	for (i = 1; i < 300; i++)
		EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &handle), 0);
	EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
	EXPECT_EQ(check_number("/proc/driver/gdrdrv/counters", "events_lost"), lost + 44);
	for (i = 1; i <= 256; i++) {
		EXPECT_EQ(read(one.driver, &event, sizeof(event)), sizeof(event));
		EXPECT_EQ(event.reason, GDRDRV_EVENT_REVOKED);
		EXPECT_EQ(event.sequence, i);
	}
	EXPECT(is_readable(one.driver));
	EXPECT_EQ(read(one.driver, &event, sizeof(event)), sizeof(event));
	EXPECT_EQ(event.reason, GDRDRV_EVENT_OVERFLOW);
	EXPECT_EQ(event.handle, 0);
	EXPECT_EQ(event.va, 0);
	EXPECT_EQ(event.size, 44);
	EXPECT_EQ(event.sequence, 300);
	EXPECT(!is_readable(one.driver));
	EXPECT_EQ(read(one.driver, &event, sizeof(event)), -1);

	again.address = gpu_alloc(one.gpu, GPU_PAGE, 0);
	EXPECT_EQ(driver_pin(one.driver, again.address, GPU_PAGE, &again.handle), 0);
	EXPECT_EQ(gpu_free(one.gpu, again.address, 0), 0);
	expect_event(one.driver, again.handle, again.address, GPU_PAGE, 301);
}

/* Where events come after some were lost, the record of those stands between. */
CASE(overflow_in_between, CALLBACK)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	struct gdrdrv_event events[300];
	uint64_t handle, later;
	int i;

	set_nonblocking(one.driver);
	for (i = 1; i < 257; i++)
		EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &handle), 0);
	EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
	EXPECT_EQ(read(one.driver, events, sizeof(events[0])), sizeof(events[0]));
	/* Room for one, and two are needed: lost as well. */
	later = gpu_alloc(one.gpu, GPU_PAGE, 0);
	EXPECT_EQ(driver_pin(one.driver, later, GPU_PAGE, &handle), 0);
	EXPECT_EQ(gpu_free(one.gpu, later, 0), 0);
	EXPECT_EQ(read(one.driver, events, sizeof(events[0])), sizeof(events[0]));
	later = gpu_alloc(one.gpu, GPU_PAGE, 0);
	EXPECT_EQ(driver_pin(one.driver, later, GPU_PAGE, &handle), 0);
	EXPECT_EQ(gpu_free(one.gpu, later, 0), 0);
	EXPECT_EQ(read(one.driver, events, sizeof(events)), 256 * sizeof(events[0]));
	EXPECT_EQ(events[253].sequence, 256);
	EXPECT_EQ(events[254].reason, GDRDRV_EVENT_OVERFLOW);
	EXPECT_EQ(events[254].size, 2);
	EXPECT_EQ(events[254].sequence, 258);
	EXPECT_EQ(events[255].handle, handle);
	EXPECT_EQ(events[255].sequence, 259);
}

static void *read_one(void *argument)
{
	struct pinned *one = argument;

	expect_event(one->driver, one->handle, one->address, one->size, 1);
	return NULL;
}

CASE(a_waiting_read_is_woken, CALLBACK)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	pthread_t reader;

	EXPECT_EQ(pthread_create(&reader, NULL, read_one, &one), 0);
	usleep(50000); /* it waits by then, most likely */
	EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
	EXPECT_EQ(pthread_join(reader, NULL), 0);
}

static void on_alarm(int number)
{
	(void)number;
}

CASE(a_signal_ends_a_waiting_read, CALLBACK)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	struct sigaction action = { .sa_handler = on_alarm };
	struct gdrdrv_event event;

	sigaction(SIGALRM, &action, NULL);
	ualarm(50000, 50000); /* again and again: the first may come before it waits */
	EXPECT_EQ(read(one.driver, &event, sizeof(event)), -1);
	EXPECT_EQ(errno, EINTR);
	ualarm(0, 0);
}

static void *free_soon(void *argument)
{
	struct pinned *one = argument;

	usleep(30000);
	EXPECT_EQ(gpu_free(one->gpu, one->address, 0), 0);
	return NULL;
}

static void wait_by_epoll(uint32_t events)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	struct epoll_event event = { .events = events, .data.u64 = 5 };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	pthread_t other;

	EXPECT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, one.driver, &event), 0);
	EXPECT_EQ(epoll_wait(epoll, &event, 1, 0), 0);
	EXPECT_EQ(pthread_create(&other, NULL, free_soon, &one), 0);
	EXPECT_EQ(epoll_wait(epoll, &event, 1, 10000), 1);
	EXPECT_EQ(event.data.u64, 5);
	EXPECT_EQ(event.events, events);
	expect_event(one.driver, one.handle, one.address, one.size, 1);
	EXPECT_EQ(epoll_wait(epoll, &event, 1, 0), 0);
	EXPECT_EQ(pthread_join(other, NULL), 0);
}

CASE(epoll_tells_of_events, CALLBACK)
{
	wait_by_epoll(EPOLLIN);
	wait_by_epoll(EPOLLRDNORM);
}

static void *free_slowly(void *argument)
{
	struct pinned *one = argument;

	EXPECT_EQ(gpu_free(one->gpu, one->address, 3000), 0);
	return NULL;
}

/* In the original, an unpin that meets its callback counts the pages as released twice. */
CASE(unpin_races_with_the_callback, CALLBACK)
{
	int i, j;

	for (i = 0; i < 20; i++) {
		struct pinned one = mapped(GPU_PAGE, 0);
		uint64_t more[3];
		pthread_t other;

		for (j = 0; j < 3; j++)
			EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &more[j]), 0);
		EXPECT_EQ(pthread_create(&other, NULL, free_slowly, &one), 0);
		usleep(i * 700);
		EXPECT_EQ(driver_unpin(one.driver, more[2]), 0);
		EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
		EXPECT_EQ(driver_unpin(one.driver, more[0]), 0);
		EXPECT_EQ(pthread_join(other, NULL), 0);
		EXPECT_EQ(driver_unpin(one.driver, more[1]), 0);
		EXPECT_EQ(munmap((void *)one.words, one.size), 0);
		EXPECT_EQ(check_number("/proc/driver/gdrdrv/nv_get_pages_refcount", NULL), 0);
		close(one.driver);
		close(one.gpu);
	}
}

CASE(close_races_with_the_callback, CALLBACK)
{
	int i;

	for (i = 0; i < 10; i++) {
		struct pinned one = pinned(GPU_PAGE, 0);
		pthread_t other;

		EXPECT_EQ(pthread_create(&other, NULL, free_slowly, &one), 0);
		usleep(i * 500);
		close(one.driver);
		EXPECT_EQ(pthread_join(other, NULL), 0);
		EXPECT_EQ(check_number("/proc/driver/gdrdrv/nv_get_pages_refcount", NULL), 0);
		close(one.gpu);
	}
}
