// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "kernel_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WARNING 4

/* What the kernel says of modules from outside, and of a machine that is slow or was stopped for a while. */
static const char *const expected[] = {
	"loading out-of-tree module taints kernel",
	"module verification failed: signature",
	"hrtimer: interrupt took",
	"clocksource: Long readout interval",
};

static const char *const reports[] = {
	"WARNING:",	 "BUG:",	  "Call Trace",	   "x86/PAT",	   "possible circular",
	"UBSAN",	 "KASAN",	  "KCSAN",	   "INFO: task",   "suspicious RCU",
	"unreferenced object", "refcount_t", "no symbol version", "disagrees about version",
};

static bool contains_any(const char *line, const char *const *words, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

#define CONTAINS_ANY(line, words) contains_any(line, words, sizeof(words) / sizeof(*(words)))

/*
 * A data race is the driver's if a function of its own is on the stack of either access. Linux 6.1 has some
 * without, which are printed and counted, but are no failure. So are those inside flush_tlb_mm_range, whoever
 * calls it: it reads which processors use an address space, while others join and leave, by intention.
 */
struct race {
	bool open, of_driver;
	bool in_flush; /* of this stack, innermost first, flush_tlb_mm_range has been seen */
	char first[256]; /* its first line */
	int count; /* the kernel's own */
};

/* Takes a line of the log that belongs to a report of a race. True if it does, and the race is the kernel's own. */
static bool belongs_to_foreign_race(struct race *race, const char *text)
{
	if (strstr(text, "BUG: KCSAN")) {
		race->open = true;
		race->of_driver = race->in_flush = false;
		snprintf(race->first, sizeof(race->first), "%s", text);
		return true;
	}
	if (!race->open)
		return strstr(text, "======") != NULL; /* the line above a report */
	if (strstr(text, " by task "))
		race->in_flush = false;
	if (strstr(text, " flush_tlb_mm_range+"))
		race->in_flush = true;
	if (!race->in_flush && !race->of_driver && (strstr(text, "gdrdrv") || strstr(text, "[nvidia]"))) {
		race->of_driver = true;
		printf("  KERNEL%s\n", race->first);
	}
	if (strstr(text, "======")) {
		race->open = false;
		if (!race->of_driver) {
			printf("  the kernel's own%s\n", race->first);
			race->count++;
		}
	}
	return !race->of_driver;
}

/* Where the rate of a line is limited, the kernel says later how many it suppressed. */
static bool is_provoked(const char *line, const char *provoked)
{
	return provoked && (strstr(line, provoked) || strstr(line, "callbacks suppressed"));
}

static struct race race;

static bool is_failure(int priority, const char *text, const char *provoked)
{
	return !CONTAINS_ANY(text, expected) && !is_provoked(text, provoked) && !belongs_to_foreign_race(&race, text) &&
	       (priority <= WARNING || CONTAINS_ANY(text, reports));
}

/* Warnings count from the loading of the first driver on; what the kernel says at start is its own. */
int kernel_log_dirt(const char *provoked)
{
	static int log = -1;
	static bool loaded;
	char record[8192];
	ssize_t length;
	int dirty = 0;

	if (log < 0)
		log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (log < 0)
		return 1;
	for (;;) {
		char *text, *end;
		int priority;

		length = read(log, record, sizeof(record) - 1);
		if (length < 0 && errno == EPIPE)
			continue; /* the oldest records have been overwritten */
		if (length <= 0)
			break;
		record[length] = 0;
		priority = atoi(record) & 7;
		text = strchr(record, ';');
		end = text ? strchr(text, '\n') : NULL;
		if (!end)
			continue;
		*end = 0;
		loaded = loaded || strstr(text, "loading out-of-tree module");
		if (loaded && is_failure(priority, text, provoked)) {
			printf("  KERNEL%s\n", text);
			dirty++;
		}
	}
	return dirty;
}

int kernel_log_end(void)
{
	int dirty = kernel_log_dirt(NULL);

	if (race.count)
		printf("DATA RACES without the driver: %d\n", race.count);
	return dirty || race.open ? 1 : 0;
}

int kernel_log_leaks(void)
{
	static const char path[] = "/sys/kernel/debug/kmemleak";
	char line[256];
	int i, leaks = 0;
	FILE *file;

	if (access(path, R_OK))
		return 0;
	for (i = 0; i < 2; i++) {
		int fd = open(path, O_WRONLY);

		sleep(6); /* kmemleak ignores what is younger than 5 s */
		if (write(fd, "scan", 4) < 0)
			perror("kmemleak");
		close(fd);
	}
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		printf("  LEAK %s", line);
		leaks++;
	}
	if (file)
		fclose(file);
	return leaks ? 1 : 0;
}

static void print_hexadecimal(const char *path, const char *name)
{
	FILE *file = fopen(path, "r");
	int byte, column = 0;

	if (!file)
		return;
	printf("COVERAGE %s\n", name);
	while ((byte = fgetc(file)) != EOF)
		printf("%02x%s", byte, ++column % 64 ? "" : "\n");
	printf("\nCOVERAGE END\n");
	fclose(file);
}

static void walk(const char *folder, int depth)
{
	DIR *open_folder = opendir(folder);
	struct dirent *each;
	char path[1024];

	while (open_folder && (each = readdir(open_folder))) {
		size_t length = strlen(each->d_name);

		if (each->d_name[0] == '.' && (!each->d_name[1] || each->d_name[1] == '.'))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, each->d_name);
		if (length > 5 && !strcmp(each->d_name + length - 5, ".gcda"))
			print_hexadecimal(path, each->d_name);
		else if (each->d_type == DT_DIR && depth < 20)
			walk(path, depth + 1);
	}
	if (open_folder)
		closedir(open_folder);
}

void kernel_log_coverage(void)
{
	walk("/sys/kernel/debug/gcov", 0);
}
