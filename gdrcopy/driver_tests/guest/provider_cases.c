// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What the GPU driver may do wrong, or answer. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

#define COUNTERS "/proc/driver/gdrdrv/counters"
#define LIMITS "/sys/module/gdrdrv/parameters/"

static int pin_when(enum fakegpu_fault fault, int64_t value)
{
	int driver = driver_open(), gpu = gpu_open();
	uint64_t address = gpu_alloc(gpu, 2 * GPU_PAGE, 0), handle;
	int result;

	if (fault)
		gpu_go_wrong(gpu, fault, value);
	result = driver_pin(driver, address, 2 * GPU_PAGE, &handle);
	if (result) {
		EXPECT_EQ(gpu_stats(gpu).tables, 0);
		EXPECT_EQ(check_number("/proc/driver/gdrdrv/counters", "pins"), 0);
		EXPECT_EQ(check_number("/proc/driver/gdrdrv/counters", "pages_held"), 0);
	}
	return result;
}

CASE(pages_are_refused, EITHER)
{
	EXPECT_EQ(pin_when(FAKEGPU_FAIL_GET, -ENOMEM), ENOMEM);
	EXPECT_EQ(pin_when(FAKEGPU_FAIL_GET, -EIO), EIO);
	EXPECT_EQ(pin_when(FAKEGPU_FAIL_GET, -524), EOPNOTSUPP);
	EXPECT_EQ(pin_when(FAKEGPU_FAIL_GET, 7), EIO);
}

/* The log has a line for each, which says what is wrong. */
static void expect_unknown(enum fakegpu_fault fault, int64_t value, const char *text)
{
	int log = check_open_log();

	EXPECT_EQ(pin_when(fault, value), EPROTO);
	EXPECT_EQ(check_log_lines(log, text), 1);
}

CASE_WITH_LOG(tables_of_unknown_layout, EITHER, "gdrdrv: nvidia.ko")
{
	expect_unknown(FAKEGPU_VERSION, 0x30000, "nvidia.ko's page table is of version 0x30000; 1.x and 2.x are known");
	expect_unknown(FAKEGPU_VERSION, 0, "nvidia.ko's page table is of version 0x0;");
	expect_unknown(FAKEGPU_SHORT_TABLE, 0, "nvidia.ko gives 1 pages of 2");
	expect_unknown(FAKEGPU_MISALIGNED, 0, "nvidia.ko's page 0 does not start at a page of the CPU");
	expect_unknown(FAKEGPU_MISALIGNED, 1, "nvidia.ko's page 1 does not start at a page of the CPU");
}

/* A user can provoke such a line, but not fill the log with it. */
CASE_WITH_LOG(the_log_is_not_flooded, EITHER, "gdrdrv: nvidia.ko's pages are not of")
{
	int log = check_open_log(), lines, i;
	time_t begin = time(NULL);

	for (i = 0; i < 30; i++) {
		EXPECT_EQ(pin_when(FAKEGPU_PAGE_SIZE, 0), EPROTO);
		EXPECT_EQ(pin_when(FAKEGPU_PAGE_SIZE, 2), EPROTO);
	}
	lines = check_log_lines(log, "gdrdrv: nvidia.ko's pages are not of 64 KiB (type ");
	EXPECT(lines >= 1);
	EXPECT(lines <= 10 * (2 + (time(NULL) - begin) / 5)); /* ten in five seconds */
}

/* What has happened since loading, each by one. */
CASE(counters_of_events, EITHER)
{
	static const char *const names[] = { "pinned", "refused", "mapped", "faults", "revoked" };
	const long wanted[] = { 1, 1, 1, 1, check_mode == CALLBACK };
	long before[5];
	struct pinned one;
	uint64_t handle;
	int i;

	for (i = 0; i < 5; i++)
		before[i] = check_number(COUNTERS, names[i]);
	one = mapped(GPU_PAGE, 0);
	EXPECT_EQ(driver_pin(one.driver, 0, GPU_PAGE, &handle), EINVAL);
	for (i = 0; i < 3; i++)
		EXPECT(!driver_map(one.driver, one.handle, GPU_PAGE));
	EXPECT_EQ(check_write(one.words), 0);
	EXPECT_EQ(check_write(one.words + 1), 0);
	EXPECT_EQ(check_number(COUNTERS, "mappings"), 1);
	EXPECT_EQ(check_number(COUNTERS, "pins"), 1);
	EXPECT_EQ(check_number(COUNTERS, "bytes"), GPU_PAGE);
	EXPECT_EQ(check_number(COUNTERS, "pages_held"), 1);
	EXPECT_EQ(check_number("/proc/driver/gdrdrv/nv_get_pages_refcount", NULL), 1);
	EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
	for (i = 0; i < 5; i++)
		EXPECT_EQ(check_number(COUNTERS, names[i]), before[i] + wanted[i]);
}

/* Also what is not counted, as far as the kernel reports how much it has allocated. */
CASE(memory_is_not_lost, EITHER)
{
	long before = check_number("/proc/meminfo", "SUnreclaim:");
	int i, driver;

	if (!access("/sys/kernel/debug/kmemleak", F_OK))
		return; /* which looks for it; and KASAN keeps for a while what has been freed */
	for (i = 0; i < 400; i++) {
		driver = driver_open();
		close(driver);
	}
	EXPECT(check_number("/proc/meminfo", "SUnreclaim:") - before < 2000);
}

/* Older drivers' tables end earlier; that they have no flags is no error. */
CASE(tables_of_older_layout, EITHER)
{
	EXPECT_EQ(pin_when(FAKEGPU_VERSION, 0x10001), 0);
	EXPECT_EQ(pin_when(FAKEGPU_VERSION, 0x10003), 0);
	EXPECT_EQ(pin_when(FAKEGPU_VERSION, 0x20001), 0);
}

CASE(memory_goes_while_it_is_pinned, CALLBACK)
{
	EXPECT_EQ(pin_when(FAKEGPU_FREE_WHILE_GETTING, 0), EINVAL);
	EXPECT_EQ(pin_when(FAKEGPU_FREE_WHILE_GETTING, -EIO), EIO);
}

static int driver_of_slow_pin;
static _Atomic bool slow_pin_is_done;

static void *pin_slowly(void *argument)
{
	uint64_t handle;

	EXPECT_EQ(driver_pin(driver_of_slow_pin, *(uint64_t *)argument, GPU_PAGE, &handle), 0);
	slow_pin_is_done = true;
	return NULL;
}

/* It waits for another one, in callback mode, where only one of them may be in nvidia.ko. */
CASE(a_pin_that_waits_can_be_killed, CALLBACK)
{
	int gpu = gpu_open(), status = 0, looks = 0, ends[2], code = gpu_pause(gpu, 0, "nvidia_p2p_get_pages");
	uint64_t address = gpu_alloc(gpu, GPU_PAGE, 0), handle;
	long pinned_before = check_number(COUNTERS, "pinned"), refused = check_number(COUNTERS, "refused");
	pthread_t slow;
	pid_t child;
	char byte = 0;

	EXPECT(!code || code == EOPNOTSUPP);
	if (code)
		return;
	driver_of_slow_pin = driver_open();
	EXPECT_EQ(pthread_create(&slow, NULL, pin_slowly, &address), 0);
	gpu_wait_paused(gpu, 0);
	EXPECT_EQ(pipe(ends), 0);
	child = fork();
	if (!child) {
		int driver = driver_open();

		EXPECT_EQ(write(ends[1], &byte, 1), 1);
		driver_pin(driver, address, GPU_PAGE, &handle);
		_exit(1);
	}
	EXPECT_EQ(read(ends[0], &byte, 1), 1);
	/* In many looks one after the other: it may also wait for a page of its own, but not for long. */
	while (looks < 100 && check_state(child) != 'Z') {
		looks = check_state(child) == 'D' ? looks + 1 : 0;
		sched_yield();
	}
	EXPECT_EQ(kill(child, SIGKILL), 0);
	EXPECT_EQ(waitpid(child, &status, 0), child);
	EXPECT(WIFSIGNALED(status));
	EXPECT(!slow_pin_is_done);
	gpu_continue(gpu, 0);
	EXPECT_EQ(pthread_join(slow, NULL), 0);
	/* Nor has it pinned anything. */
	EXPECT_EQ(check_number(COUNTERS, "pinned"), pinned_before + 1);
	EXPECT_EQ(check_number(COUNTERS, "refused"), refused + 1);
}

/* Then the callback may still come. */
CASE_WITH_LOG(releasing_fails, EITHER, "gdrdrv: nvidia.ko does not release")
{
	struct pinned one = mapped(GPU_PAGE, 0);
	int log = check_open_log();

	EXPECT_EQ(check_write(one.words), 0);
	gpu_go_wrong(one.gpu, FAKEGPU_FAIL_PUT, -EIO);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	EXPECT_EQ(check_log_lines(log, "gdrdrv: nvidia.ko does not release the pages of 0x"), 1);
	EXPECT_EQ(check_write(one.words), SIGBUS);
	EXPECT_EQ(munmap((void *)one.words, one.size), 0);
	close(one.driver);
	EXPECT_EQ(gpu_stats(one.gpu).tables, check_mode == CALLBACK);
	EXPECT_EQ(check_number(COUNTERS, "pages_held"), check_mode == CALLBACK);
	EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
	EXPECT_EQ(check_number(COUNTERS, "pages_held"), 0);
}

/* Then it does not come any more. */
CASE_WITH_LOG(memory_is_freed_while_it_is_released, CALLBACK, "gdrdrv: nvidia.ko does not release")
{
	struct pinned one = mapped(GPU_PAGE, 0);
	struct gdrdrv_usage_args usage = { 0 };

	gpu_go_wrong(one.gpu, FAKEGPU_FREE_WHILE_PUTTING, -EIO);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	EXPECT_EQ(check_write(one.words), SIGBUS);
	EXPECT_EQ(gpu_stats(one.gpu).tables, 0);
	EXPECT_EQ(check_number(COUNTERS, "pages_held"), 0);
	EXPECT_EQ(driver_call(one.driver, GDRDRV_GET_USAGE, &usage), 0);
	EXPECT_EQ(usage.user_pins, 0);
}

/*
 * Out of another process, nvidia.ko releases nothing and returns 0: the callback comes after the
 * descriptor and its pins are gone. Until then, the driver stays loaded.
 */
CASE(released_by_another_process, CALLBACK)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	uint64_t other = gpu_alloc(one.gpu, GPU_PAGE, 0);
	int ready[2], status;
	char byte;

	EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
	if (!fork()) {
		close(ready[1]);
		(void)!read(ready[0], &byte, 1);
		_exit(0); /* and closes the descriptor as the last one */
	}
	close(one.driver);
	close(ready[1]);
	EXPECT(wait(&status) > 0);
	EXPECT_EQ(check_number(COUNTERS, "files"), 0);
	EXPECT_EQ(check_number(COUNTERS, "pins"), 0);
	EXPECT_EQ(check_number(COUNTERS, "pages_held"), 1);
	EXPECT_EQ(gpu_stats(one.gpu).tables, 1);
	EXPECT_EQ(syscall(SYS_delete_module, "gdrdrv", O_NONBLOCK), -1);
	EXPECT_EQ(errno, EWOULDBLOCK);
	/* It is charged to its user all the while. */
	EXPECT_EQ(check_set(LIMITS "max_user_pins", "1"), 0);
	one.driver = driver_open();
	EXPECT_EQ(driver_pin(one.driver, other, GPU_PAGE, &one.handle), EDQUOT);
	EXPECT_EQ(gpu_free(one.gpu, one.address, 0), 0);
	EXPECT_EQ(driver_pin(one.driver, other, GPU_PAGE, &one.handle), 0);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	EXPECT_EQ(check_set(LIMITS "max_user_pins", "0"), 0);
	EXPECT_EQ(check_number(COUNTERS, "pages_held"), 0);
}

/* With a token, the process does not matter. */
CASE(released_by_another_process_with_a_token, CALLBACK)
{
	int gpu = gpu_open(), driver = driver_open(), ready[2], status;
	struct gdrdrv_pin_args args = { .address = gpu_alloc(gpu, GPU_PAGE, 0), .size = GPU_PAGE,
					.p2p_token = 5 };
	char byte;

	EXPECT_EQ(driver_call(driver, GDRDRV_PIN, &args), 0);
	EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
	if (!fork()) {
		close(ready[1]);
		(void)!read(ready[0], &byte, 1);
		_exit(0);
	}
	close(driver);
	close(ready[1]);
	EXPECT(wait(&status) > 0);
	EXPECT_EQ(gpu_stats(gpu).tables, 0);
	EXPECT_EQ(check_number(COUNTERS, "pages_held"), 0);
}

#define DYNAMIC_DEBUG "/sys/kernel/debug/dynamic_debug/control"

/* The reason of a refusal is in the log for those who ask for it, as docs/kernel.md says. */
CASE(refusals_are_told_to_those_who_ask, EITHER)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	uint64_t handle;
	int log = check_open_log();

	EXPECT_EQ(driver_unpin(one.driver, 12345), EINVAL);
	EXPECT_EQ(check_log_lines(log, "gdrdrv: "), 0);

	EXPECT_EQ(check_set(DYNAMIC_DEBUG, "module gdrdrv +p"), 0);
	log = check_open_log();
	EXPECT_EQ(driver_unpin(one.driver, 12345), EINVAL);
	EXPECT_EQ(check_log_lines(log, "gdrdrv: ioctl 2: -22"), 1);

	log = check_open_log();
	gpu_go_wrong(one.gpu, FAKEGPU_FAIL_GET, -ENOMEM);
	EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &handle), ENOMEM);
	EXPECT_EQ(check_log_lines(log, "gdrdrv: nvidia.ko gives no pages for 0x"), 1);

	log = check_open_log();
	EXPECT_EQ(check_set(LIMITS "max_user_pins", "1"), 0);
	EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &handle), EDQUOT);
	EXPECT_EQ(check_set(LIMITS "max_user_pins", "0"), 0);
	EXPECT_EQ(check_log_lines(log, "gdrdrv: a user's limit on pins is reached"), 1);

	log = check_open_log();
	EXPECT_EQ(check_set(LIMITS "max_user_bytes", "1"), 0);
	EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &handle), EDQUOT);
	EXPECT_EQ(check_set(LIMITS "max_user_bytes", "0"), 0);
	EXPECT_EQ(check_log_lines(log, "gdrdrv: a user's limit on bytes is reached"), 1);
	EXPECT_EQ(check_set(DYNAMIC_DEBUG, "module gdrdrv -p"), 0);
}
