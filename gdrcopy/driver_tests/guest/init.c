// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The guest's only program: loads the drivers in each mode, runs the cases, reads the kernel's log, and
 * switches off. The last line says how many failed. Selected on the kernel's command line: modes=, only=; with
 * stop=yes, the first case that fails is the last one.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "cost.h"
#include "gpu.h"
#include "kernel_log.h"
#include "programs.h"

#define COUNTERS "/proc/driver/gdrdrv/counters"

static struct check *checks;
static int failed, passed;

void check_add(struct check *which)
{
	which->next = checks;
	checks = which;
}

static const char *option(const char *name, const char *otherwise)
{
	const char *value = getenv(name); /* the kernel passes what it does not know */

	return value ? value : otherwise;
}

static void must(const char *what, int code)
{
	if (!code)
		return;
	printf("  FAILED %s: %s\n", what, strerror(code));
	failed++;
}

/* What a case leaves held is its failure. */
static int left_over(const char *name)
{
	static const char *const held[] = { "files",	  "pins",	 "bytes",	"mappings",
					    "pages_held", "pin_objects", "user_objects" };
	int gpu = gpu_open(), count = 0;
	struct fakegpu_stats stats = gpu_stats(gpu);
	unsigned int i;

	for (i = 0; i < sizeof(held) / sizeof(*held); i++) {
		long number = check_number(COUNTERS, held[i]);

		if (number != (check_mode == UNLOADED ? -1 : 0)) {
			printf("    %s leaves %s: %ld\n", name, held[i], number);
			count++;
		}
	}
	if (stats.tables || stats.allocations) {
		printf("    %s leaves %lld page tables and %lld allocations\n", name,
		       (long long)stats.tables, (long long)stats.allocations);
		count++;
	}
	if (gpu_kernel_mappings(gpu)) {
		printf("    %s leaves %d mappings of the kernel's\n", name, gpu_kernel_mappings(gpu));
		count++;
	}
	if (gpu_memory_types(gpu) > 0) {
		printf("    %s leaves %d memory types\n", name, gpu_memory_types(gpu));
		count++;
	}
	close(gpu);
	return count;
}

static void on_alarm(int number)
{
	(void)number; /* ends a wait */
}

static void run_one(const struct check *which)
{
	struct timespec begin, end;
	int status = 0, bad;
	pid_t child;

	fflush(stdout);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	child = fork();
	if (!child) {
		which->run();
		fflush(stdout);
		_exit(check_failures ? 1 : 0);
	}
	/* A case that hangs is reported even if it cannot be killed, before QEMU's time is over. */
	alarm((unsigned int)atoi(option("limit", "300")) / 3);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
		printf("    %s hangs\n", which->name);
		kill(child, SIGKILL);
	}
	alarm(0);
	while (waitpid(-1, NULL, 0) > 0) /* children of its own that it left to us */
		;
	clock_gettime(CLOCK_MONOTONIC, &end);
	bad = left_over(which->name) + kernel_log_dirt(which->log);
	if (status || bad) {
		if (WIFSIGNALED(status))
			printf("    ended by signal %d\n", WTERMSIG(status));
		failed++;
	} else {
		passed++;
	}
	printf("  %s %s (%ld ms)\n", status || bad ? "FAILED" : "ok", which->name,
	       (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000);
}

static void switch_off(void)
{
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void end(void)
{
	printf("%d passed\nVERDICT %d\n", passed, failed);
	switch_off();
}

static void run_cases(int mode, const char *name)
{
	const char *only = option("only", "");
	int long_too = strstr(option("modes", ""), "long") ? LONG : 0;
	struct check *each;

	printf("MODE %s\n", name);
	check_mode = mode;
	for (each = checks; each; each = each->next) {
		if (each->modes & mode && !(each->modes & LONG & ~long_too) && strstr(each->name, only))
			run_one(each);
		if (failed && *option("stop", ""))
			end();
	}
}

static void run_mode(int mode, const char *name, const char *parameters)
{
	must("load gdrdrv", module_load("/gdrdrv.ko", parameters));
	run_cases(mode, name);
	must("unload gdrdrv", module_unload("gdrdrv"));
}

static void run_programs(const char *mode, const char *parameters)
{
	int before = failed;

	printf("PROGRAMS in %s mode\n", mode);
	must("load gdrdrv", module_load("/gdrdrv.ko", parameters));
	failed += programs_run(mode);
	failed += left_over("a program") != 0;
	must("unload gdrdrv", module_unload("gdrdrv"));
	passed += failed == before;
}

static void mount_all(void)
{
	static const char *const kinds[][2] = { { "proc", "/proc" }, { "sysfs", "/sys" },
						{ "devtmpfs", "/dev" }, { "debugfs", "/sys/kernel/debug" } };
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		mkdir(kinds[i][1], 0755);
		mount(kinds[i][0], kinds[i][1], kinds[i][0], 0, NULL);
	}
	/* For programs that are run here beside this one. */
	mkdir("/tmp", 01777);
	mkdir("/dev/shm", 01777);
	mount("tmpfs", "/tmp", "tmpfs", 0, NULL);
	mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL);
}

/* Large entries that map a device do not depend on this setting for other memory. */
static void set_large_pages_off(void)
{
	int code = check_set("/sys/kernel/mm/transparent_hugepage/enabled", "never");

	must("set transparent huge pages off", code == ENOENT ? 0 : code);
}

int main(int argc, char **argv)
{
	const char *modes = option("modes", "persistent,callback,device");

	if (argc == 2 && getpid() != 1) /* run again by a case, as another program */
		return driver_call(atoi(argv[1]), GDRDRV_GET_FEATURES,
				   &(struct gdrdrv_features_args){ 0 });
	mount_all();
	setvbuf(stdout, NULL, _IOLBF, 0);
	set_large_pages_off();
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alarm }, NULL);
	must("load nvidia", module_load("/nvidia.ko", ""));
	if (strstr(modes, "cost")) {
		must("load gdrdrv", module_load("/gdrdrv.ko", option("parameters", "")));
		cost();
		switch_off();
	}
	run_mode(FIRST, "bytes of the host's", "");
	if (strstr(modes, "programs")) {
		run_programs("persistent", "use_persistent_mapping=1");
		run_programs("callback", "use_persistent_mapping=0");
	}
	if (strstr(modes, "persistent"))
		run_mode(PERSISTENT, "persistent", "use_persistent_mapping=1");
	if (strstr(modes, "callback"))
		run_mode(CALLBACK, "callback", "use_persistent_mapping=0");
	if (strstr(modes, "device"))
		run_mode(DEVICE, "device mappings", "device_mappings=1");
	if (strstr(modes, "device"))
		run_cases(UNLOADED, "no driver");
	run_mode(LAST, "bytes for the host", "");
	failed += kernel_log_leaks();
	must("unload nvidia", module_unload("nvidia"));
	kernel_log_coverage();
	failed += kernel_log_end();
	end();
}
