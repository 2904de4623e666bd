// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "check.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int check_mode;
int check_failures;

void check_failed(const char *file, int line, const char *what, long got, long wanted)
{
	const char *name = strrchr(file, '/');

	__atomic_add_fetch(&check_failures, 1, __ATOMIC_RELAXED);
	printf("    %s:%d: %s: got %ld, wanted %ld\n", name ? name + 1 : file, line, what, got, wanted);
	fflush(stdout);
}

static int signal_of(void (*run)(void *), void *argument, bool (*is_endless)(void))
{
	pid_t child = fork(), ended;
	int status = 0;

	if (!child) {
		check_failures = 0;
		run(argument);
		_exit(check_failures ? 1 : 0);
	}
	while ((ended = waitpid(child, &status, is_endless ? WNOHANG : 0)) != child) {
		if (!ended && is_endless()) {
			check_failed(__FILE__, __LINE__, "a child does not end", 0, 0);
			kill(child, SIGKILL);
			is_endless = NULL;
		} else if (!ended) {
			usleep(1000);
		}
	}
	if (WIFSIGNALED(status))
		return WTERMSIG(status);
	if (WEXITSTATUS(status))
		check_failed(__FILE__, __LINE__, "a child failed", WEXITSTATUS(status), 0);
	return 0;
}

int check_signal_of(void (*run)(void *), void *argument)
{
	return signal_of(run, argument, NULL);
}

struct users_run {
	void (*run)(void *);
	void *argument;
};

static void run_as_user(void *argument)
{
	const struct users_run *users = argument;

	EXPECT_EQ(setgid(1000), 0);
	EXPECT_EQ(setuid(1000), 0);
	users->run(users->argument);
}

int check_signal_of_user(void (*run)(void *), void *argument, bool (*is_endless)(void))
{
	static const char setting[] = "/proc/sys/kernel/panic_on_warn";
	struct users_run users = { run, argument };
	long before = check_number(setting, NULL);
	int number;

	EXPECT_EQ(check_set(setting, "1"), 0);
	number = signal_of(run_as_user, &users, is_endless);
	EXPECT_EQ(check_set(setting, before ? "1" : "0"), 0);
	return number;
}

/* A child has no mapping, so the access is made here; other threads may do the same meanwhile. */
static _Thread_local sigjmp_buf after_signal;
static _Thread_local volatile bool expects_signal;

static void on_signal(int number)
{
	if (expects_signal)
		siglongjmp(after_signal, number);
	signal(number, SIG_DFL); /* and the access is made again */
}

static int access_byte(volatile char *at, bool write)
{
	struct sigaction action = { .sa_handler = on_signal };
	int number;

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	number = sigsetjmp(after_signal, 1);
	expects_signal = !number;
	if (expects_signal) {
		if (write)
			*at = 1;
		else
			(void)*at;
	}
	expects_signal = false;
	return number;
}

int check_read(volatile void *at)
{
	return access_byte(at, false);
}

int check_write(volatile void *at)
{
	return access_byte(at, true);
}

char check_state(int id)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", id);
	file = fopen(path, "r");
	if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (file)
		fclose(file);
	return state;
}

long check_number(const char *path, const char *name)
{
	char line[256], found[200];
	long value = -1, number;
	FILE *file = fopen(path, "r");

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		if (!name ? sscanf(line, "%ld", &value) == 1 :
			    sscanf(line, "%199s %ld", found, &number) == 2 && !strcmp(found, name)) {
			if (name)
				value = number;
			break;
		}
	fclose(file);
	return value;
}

int check_set(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), result;

	if (fd < 0)
		return errno;
	result = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return result;
}

int check_open_log(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	lseek(log, 0, SEEK_END);
	return log;
}

int check_log_lines(int log, const char *text)
{
	char record[8192];
	ssize_t length;
	int lines = 0;

	while ((length = read(log, record, sizeof(record) - 1)) > 0) {
		record[length] = 0;
		lines += strstr(record, text) != NULL;
	}
	close(log);
	return lines;
}
