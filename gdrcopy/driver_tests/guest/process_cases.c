// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Who may use a descriptor, and what becomes of it with its process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

static void expect_shut(int driver, uint64_t handle)
{
	struct gdrdrv_event event;
	struct pollfd poll_for = { .fd = driver, .events = POLLIN };
	uint64_t args[8];
	int i;

	for (i = 0; driver_commands[i]; i++) {
		memset(args, 0, sizeof(args));
		args[0] = handle;
		EXPECT_EQ(driver_call(driver, driver_commands[i], args), EACCES);
	}
	EXPECT(!driver_map(driver, handle, GPU_PAGE));
	EXPECT_EQ(errno, EACCES);
	EXPECT_EQ(read(driver, &event, sizeof(event)), -1);
	EXPECT_EQ(errno, EACCES);
	EXPECT_EQ(poll(&poll_for, 1, 1000), 1);
	EXPECT_EQ(poll_for.revents, POLLERR);
}

static void in_a_child(void *argument)
{
	struct pinned *one = argument;

	expect_shut(one->driver, one->handle);
	EXPECT_EQ(check_write(one->words), SIGSEGV);
	/* Its own descriptor works. */
	EXPECT(driver_call(driver_open(), GDRDRV_GET_FEATURES,
			   &(struct gdrdrv_features_args){ 0 }) == 0);
}

CASE(fork_shares_nothing, EITHER)
{
	struct pinned one = mapped(GPU_PAGE, 0);

	EXPECT_EQ(check_signal_of(in_a_child, &one), 0);
	EXPECT_EQ(check_write(one.words), 0);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
}

static void send_descriptor(int to, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	EXPECT_EQ(sendmsg(to, &message, 0), 1);
}

static int receive_descriptor(int from)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	int fd = -1;

	EXPECT_EQ(recvmsg(from, &message, 0), 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/* Handed over by a process that ends at once: it is of no use, and holds no pins. */
CASE(passing_a_descriptor, EITHER)
{
	int sockets[2], gpu = gpu_open(), driver, i;
	uint64_t address = gpu_alloc(gpu, GPU_PAGE, 0);

	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	if (!fork()) {
		uint64_t handle;

		driver = driver_open();
		EXPECT_EQ(driver_pin(driver, address, GPU_PAGE, &handle), 0);
		send_descriptor(sockets[1], driver);
		_exit(check_failures);
	}
	driver = receive_descriptor(sockets[0]);
	EXPECT(wait(&i) > 0);
	EXPECT_EQ(i, 0);
	expect_shut(driver, 1);
	EXPECT_EQ(gpu_stats(gpu).tables, 0);
}

/* A child that inherits the descriptor does not keep the pins of its parent that has ended. */
CASE(pins_end_with_their_process, EITHER)
{
	int gpu = gpu_open(), ready[2], status;
	uint64_t address = gpu_alloc(gpu, 2 * GPU_PAGE, 0), handle;
	char byte;

	EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
	if (!fork()) {
		int driver = driver_open();

		EXPECT_EQ(driver_pin(driver, address, GPU_PAGE, &handle), 0);
		EXPECT_EQ(driver_pin(driver, address, 2 * GPU_PAGE, &handle), 0);
		EXPECT(driver_map(driver, handle, 2 * GPU_PAGE));
		if (!fork()) {
			close(ready[1]);
			(void)!read(ready[0], &byte, 1);
			_exit(0);
		}
		_exit(check_failures);
	}
	close(ready[0]);
	EXPECT(wait(&status) > 0);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(check_number("/proc/driver/gdrdrv/counters", "files"), 1);
	EXPECT_EQ(check_number("/proc/driver/gdrdrv/counters", "pins"), 0);
	EXPECT_EQ(gpu_stats(gpu).tables, 0);
	close(ready[1]);
}

struct opened {
	pthread_t thread;
	uint64_t address, handle;
	int driver;
};

static void *open_and_pin(void *argument)
{
	struct opened *by = argument;

	by->driver = driver_open();
	EXPECT_EQ(driver_pin(by->driver, by->address, GPU_PAGE, &by->handle), 0);
	return NULL;
}

static void *unpin_in_thread(void *argument)
{
	struct opened *by = argument;

	EXPECT_EQ(driver_unpin(by->driver, by->handle), 0);
	return NULL;
}

/* A descriptor is the process's, whichever thread has opened it, and after that thread's end. */
CASE(threads_share_a_descriptor, EITHER)
{
	int gpu = gpu_open();
	struct opened by = { .address = gpu_alloc(gpu, 2 * GPU_PAGE, 0) };
	uint64_t handle;
	void *at;

	usleep(20000); /* the thread starts later than the process, also by a coarse clock */
	EXPECT_EQ(pthread_create(&by.thread, NULL, open_and_pin, &by), 0);
	EXPECT_EQ(pthread_join(by.thread, NULL), 0);
	EXPECT_EQ(driver_pin(by.driver, by.address, 2 * GPU_PAGE, &handle), 0);
	at = driver_map(by.driver, by.handle, GPU_PAGE);
	EXPECT(at);
	EXPECT_EQ(check_write(at), 0);
	EXPECT_EQ(pthread_create(&by.thread, NULL, unpin_in_thread, &by), 0);
	EXPECT_EQ(pthread_join(by.thread, NULL), 0);
	EXPECT_EQ(check_write(at), SIGBUS);
	EXPECT_EQ(driver_unpin(by.driver, handle), 0);
}

/* A thread with its own table of descriptors may end without its process. */
static void *thread_with_own_files(void *argument)
{
	EXPECT_EQ(unshare(CLONE_FILES), 0);
	return argument;
}

CASE(a_thread_ends_without_its_process, EITHER)
{
	struct pinned one = mapped(GPU_PAGE, 0);
	pthread_t thread;

	EXPECT_EQ(pthread_create(&thread, NULL, thread_with_own_files, NULL), 0);
	EXPECT_EQ(pthread_join(thread, NULL), 0);
	usleep(20000); /* its files are closed after it can be joined */
	EXPECT_EQ(check_write(one.words), 0);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
}

/* Another program in the same process is another one. */
CASE(exec_shuts_the_descriptor, EITHER)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	int status = 0;
	char number[12];

	if (!fork()) {
		int inherited = open("/dev/gdrdrv", O_RDWR); /* without O_CLOEXEC */

		EXPECT_EQ(driver_call(inherited, GDRDRV_GET_FEATURES,
				      &(struct gdrdrv_features_args){ 0 }), 0);
		snprintf(number, sizeof(number), "%d", inherited);
		execl("/init", "init", number, NULL);
		_exit(99);
	}
	EXPECT(wait(&status) > 0);
	EXPECT_EQ(WEXITSTATUS(status), EACCES);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
}

CASE(opening_for_reading_only, EITHER)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	int driver = open("/dev/gdrdrv", O_RDONLY | O_CLOEXEC);
	uint64_t handle;
	void *at;

	EXPECT_EQ(driver_pin(driver, one.address, GPU_PAGE, &handle), 0);
	EXPECT(!driver_map(driver, handle, GPU_PAGE));
	EXPECT_EQ(errno, EACCES);
	at = mmap(NULL, GPU_PAGE, PROT_READ, MAP_SHARED, driver, (off_t)(handle * getpagesize()));
	EXPECT(at != MAP_FAILED);
	EXPECT_EQ(check_read(at), 0);
	EXPECT_EQ(mprotect(at, GPU_PAGE, PROT_READ | PROT_WRITE), -1);
	EXPECT_EQ(errno, EACCES);
}

/* The kernel releases what a process leaves at its end. */
CASE(nothing_is_left_at_exit, EITHER)
{
	mapped(4 * GPU_PAGE, 0);
	mapped(4 * GPU_PAGE, FAKEGPU_SCATTERED);
	pinned(GPU_PAGE, 0);
}

/* As open as NVIDIA's own nodes; udev's rule says the same. */
CASE(the_node_is_for_everybody, EITHER)
{
	struct stat about = { 0 };

	EXPECT_EQ(stat("/dev/gdrdrv", &about), 0);
	EXPECT_EQ(about.st_mode, S_IFCHR | 0666);
}

static void read_as_another_user(void *unused)
{
	(void)unused;
	EXPECT_EQ(setgid(1000), 0);
	EXPECT_EQ(setuid(1000), 0);
	EXPECT(open("/proc/driver/gdrdrv/params", O_RDONLY | O_CLOEXEC) >= 0);
	EXPECT_EQ(open("/proc/driver/gdrdrv/counters", O_RDONLY | O_CLOEXEC), -1);
	EXPECT_EQ(errno, EACCES);
	EXPECT_EQ(open("/proc/driver/gdrdrv/nv_get_pages_refcount", O_RDONLY | O_CLOEXEC), -1);
	EXPECT_EQ(errno, EACCES);
}

/* They would show when others pin and map. */
CASE(counters_are_for_the_administrator, EITHER)
{
	EXPECT_EQ(check_signal_of(read_as_another_user, NULL), 0);
}

#define LIMITS "/sys/module/gdrdrv/parameters/"

CASE(limits_of_a_user, EITHER)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	int other = driver_open();
	struct gdrdrv_usage_args usage = { 0 };
	uint64_t handle;

	EXPECT_EQ(check_set(LIMITS "max_user_pins", "2"), 0);
	EXPECT_EQ(driver_pin(other, one.address, GPU_PAGE, &handle), 0);
	EXPECT_EQ(driver_call(other, GDRDRV_GET_USAGE, &usage), 0);
	EXPECT_EQ(usage.max_user_pins, 2);
	EXPECT_EQ(usage.user_pins, 2);
	EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &handle), EDQUOT);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &one.handle), 0);
	EXPECT_EQ(check_set(LIMITS "max_user_pins", "0"), 0);

	EXPECT_EQ(check_set(LIMITS "max_user_bytes", "200000"), 0);
	EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &handle), 0);
	EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &handle), EDQUOT);
	EXPECT_EQ(check_set(LIMITS "max_user_bytes", "0"), 0);
	EXPECT_EQ(gpu_stats(one.gpu).tables, 3);
}

static void as_another_user(void *argument)
{
	uint64_t handle;

	EXPECT_EQ(setuid(1000), 0);
	EXPECT_EQ(driver_pin(driver_open(), *(uint64_t *)argument, GPU_PAGE, &handle), 0);
	EXPECT_EQ(driver_pin(driver_open(), *(uint64_t *)argument, GPU_PAGE, &handle), EDQUOT);
}

CASE(limits_are_each_users_own, EITHER)
{
	struct pinned one = pinned(GPU_PAGE, 0);

	EXPECT_EQ(check_set(LIMITS "max_user_pins", "1"), 0);
	EXPECT_EQ(check_signal_of(as_another_user, &one.address), 0);
	EXPECT_EQ(check_set(LIMITS "max_user_pins", "0"), 0);
}
