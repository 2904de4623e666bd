/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Cases and what they expect. Each runs in a process of its own, in each of the driver's modes that it
 * names, and must leave nothing held in either driver.
 */
#ifndef GUEST_CHECK_H
#define GUEST_CHECK_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * FIRST and LAST are runs of their own, in persistent mode, before and after the others. UNLOADED is one without the
 * driver, which the cases load and unload.
 */
enum mode { PERSISTENT = 1, CALLBACK = 2, EITHER = 3, DEVICE = 4, FIRST = 8, LAST = 16, LONG = 32, UNLOADED = 64 };

struct check {
	const char *name;
	int modes;
	const char *log; /* what it makes the driver say in the kernel's log, as a part of each line; or NULL */
	void (*run)(void);
	struct check *next;
};

void check_add(struct check *which);

/* CASE(name, modes) { ... } */
#define CASE(name, modes) CASE_WITH_LOG(name, modes, NULL)
#define CASE_WITH_LOG(name, modes, log)                                       \
	static void name(void);                                               \
	__attribute__((constructor)) static void name##_add(void)             \
	{                                                                     \
		static struct check self = { #name, modes, log, name, NULL }; \
		check_add(&self);                                             \
	}                                                                     \
	static void name(void)

extern int check_mode; /* the driver's now */
extern int check_failures;

void check_failed(const char *file, int line, const char *what, long got, long wanted);

#define EXPECT(condition)                                                        \
	do {                                                                     \
		if (!(condition))                                                \
			check_failed(__FILE__, __LINE__, #condition, errno, -1); \
	} while (0)

#define EXPECT_EQ(left, right)                                                         \
	do {                                                                           \
		long got_ = (long)(left), wanted_ = (long)(right);                     \
		if (got_ != wanted_)                                                   \
			check_failed(__FILE__, __LINE__, #left " == " #right, got_, wanted_); \
	} while (0)

/* Runs it in a child; returns the signal that ended it, or 0. */
int check_signal_of(void (*run)(void *), void *argument);

/*
 * The same as user 1000, while any warning of the kernel's is a panic. A child of which `is_endless` (or NULL) becomes
 * true is killed, and has failed.
 */
int check_signal_of_user(void (*run)(void *), void *argument, bool (*is_endless)(void));

/* The signal that a read or a write of this byte brings, or 0. */
int check_read(volatile void *at);
int check_write(volatile void *at);

/* What a thread or process does: 'R' for running, 'D' for waiting for what no handled signal ends, ...; or 0. */
char check_state(int id);

/* A file of /proc or /sys; a name and a number in each of its lines. */
long check_number(const char *path, const char *name);
int check_set(const char *path, const char *text);

/* The kernel's log from now on, and how many lines of it have this text, which closes it. */
int check_open_log(void);
int check_log_lines(int log, const char *text);

#endif /* GUEST_CHECK_H */
