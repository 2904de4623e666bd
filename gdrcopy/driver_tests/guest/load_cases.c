// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Loading and unloading: failures, devices and parameters that matter, and the log. The driver is not loaded here. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

static int load(void)
{
	return module_load("/gdrdrv.ko", "");
}

static int unload(void)
{
	return module_unload("gdrdrv");
}

static void expect_nothing(void)
{
	EXPECT_EQ(access("/sys/module/gdrdrv/parameters", F_OK), -1);
	EXPECT_EQ(access("/proc/driver/gdrdrv", F_OK), -1);
	EXPECT_EQ(access("/dev/gdrdrv", F_OK), -1);
	EXPECT_EQ(driver_major(), -1);
}

/* What has been made by then goes again, so that the driver can be loaded later. */
CASE(loading_fails, UNLOADED)
{
	static const struct {
		const char *function;
		int result, after, wanted;
	} failures[] = {
		{ "proc_mkdir", 0, 0, ENOMEM },
		{ "proc_create_single_data", 0, 0, ENOMEM },
		{ "proc_create_single_data", 0, 1, ENOMEM },
		{ "proc_create_single_data", 0, 2, ENOMEM },
		{ "__register_chrdev", -EBUSY, 0, EBUSY },
		{ "misc_register", -EBUSY, 0, EBUSY },
	};
	int gpu = gpu_open();
	unsigned int i;

	for (i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		if (gpu_fail_call(gpu, failures[i].function, failures[i].result, failures[i].after)) {
			EXPECT_EQ(errno, EOPNOTSUPP); /* a kernel that cannot */
			break;
		}
		EXPECT_EQ(load(), failures[i].wanted);
		EXPECT_EQ(gpu_failed_calls(gpu), 1);
		expect_nothing();
	}
	EXPECT_EQ(load(), 0);
	EXPECT_EQ(access("/dev/gdrdrv", F_OK), 0);
	EXPECT_EQ(unload(), 0);
	expect_nothing();
}

/* The log says which driver it is, and in which mode. */
CASE(loading_is_told, UNLOADED)
{
	static const char *const modes[][2] = { { "", "persistent" }, { "use_persistent_mapping=0", "callback" } };
	char text[80];
	int i, log;

	for (i = 0; i < 2; i++) {
		log = check_open_log();
		EXPECT_EQ(module_load("/gdrdrv.ko", modes[i][0]), 0);
		snprintf(text, sizeof(text), "gdrdrv: version 2.6 of barmap, %s mode\n", modes[i][1]);
		EXPECT_EQ(check_log_lines(log, text), 1);
		EXPECT_EQ(unload(), 0);
	}
}

static void use_node(void *path)
{
	int gpu = gpu_open(), driver = open(path, O_RDWR | O_CLOEXEC);
	uint64_t address = gpu_alloc(gpu, GPU_PAGE, 0), handle;
	void *at;

	EXPECT_EQ(driver_pin(driver, address, GPU_PAGE, &handle), 0);
	at = driver_map(driver, handle, GPU_PAGE);
	EXPECT(at);
	EXPECT_EQ(check_write(at), 0);
	EXPECT_EQ(unload(), EWOULDBLOCK);
	EXPECT_EQ(driver_unpin(driver, handle), 0);
	EXPECT_EQ(check_write(at), SIGBUS);
}

/* As gdrcopy's scripts and modprobe rules make it. */
CASE(a_node_by_the_number_in_proc, UNLOADED)
{
	static char path[] = "/tmp/node";

	EXPECT_EQ(load(), 0);
	EXPECT(driver_major() > 0);
	EXPECT_EQ(mknod(path, S_IFCHR | 0600, makedev(driver_major(), 0)), 0);
	EXPECT_EQ(check_signal_of(use_node, path), 0);
	EXPECT_EQ(unlink(path), 0);
	/* No other device has this driver. */
	EXPECT_EQ(mknod(path, S_IFCHR | 0600, makedev(driver_major(), 1)), 0);
	EXPECT_EQ(open(path, O_RDWR | O_CLOEXEC), -1);
	EXPECT_EQ(errno, ENXIO);
	EXPECT_EQ(unlink(path), 0);
	EXPECT_EQ(mknod(path, S_IFCHR | 0600, makedev(driver_major(), 0)), 0);
	EXPECT_EQ(unload(), 0);
	EXPECT_EQ(open(path, O_RDWR | O_CLOEXEC), -1);
	EXPECT_EQ(errno, ENXIO);
	EXPECT_EQ(unlink(path), 0);
	expect_nothing();
}

/* The original takes any number for each of these, and shows two of them. */
CASE(settings_of_the_original, UNLOADED)
{
	static const struct {
		const char *settings, *end;
	} all[] = {
		{ "", "mapping: yes\ndbg_enabled: 0\ninfo_enabled: 0\n" },
		{ "use_persistent_mapping=2 dbg_enabled=1 info_enabled=3", "mapping: yes\ndbg_enabled: 1\ninfo_enabled: 3\n" },
		{ "use_persistent_mapping=0 dbg_enabled=2", "mapping: no\ndbg_enabled: 2\ninfo_enabled: 0\n" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		char text[300] = "";
		FILE *file;

		EXPECT_EQ(module_load("/gdrdrv.ko", all[i].settings), 0);
		file = fopen("/proc/driver/gdrdrv/params", "r");
		EXPECT(file && fread(text, 1, sizeof(text) - 1, file));
		EXPECT(strlen(text) > strlen(all[i].end) && !strcmp(text + strlen(text) - strlen(all[i].end), all[i].end));
		if (file)
			fclose(file);
		EXPECT_EQ(unload(), 0);
	}
}

static void expect_mapping(bool device)
{
	const char *parameter = "/sys/module/gdrdrv/parameters/device_mappings";
	int file = open(parameter, O_RDONLY | O_CLOEXEC);
	struct pinned one = mapped(GPU_PAGE, 0);
	char value = 0;

	EXPECT_EQ(read(file, &value, 1), 1);
	EXPECT_EQ(value, device ? 'Y' : 'N');
	close(file);
	gpu_expect_pages(&one, device ? FAKEGPU_UNCACHED : FAKEGPU_WRITE_COMBINING);
}

static void map_once(void *device)
{
	expect_mapping(*(bool *)device);
}

/* BlueField-2, 3 with its two numbers, and those of another maker. */
CASE(bluefield_3_is_recognised, UNLOADED)
{
	static const struct {
		unsigned int vendor, device;
		bool recognised;
	} roots[] = { { 0x15b3, 0xa2d6, false }, { 0x15b3, 0xa2da, true }, { 0x15b3, 0xa2db, true },
		      { 0x15b3, 0xa2dc, false }, { 0x10de, 0xa2da, false } };
#ifdef __aarch64__
	bool possible = true;
#else
	bool possible = false;
#endif
	int gpu = gpu_open();
	unsigned int i;

	for (i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		struct fakegpu_identity as = { .vendor = roots[i].vendor, .device = roots[i].device };
		bool device = possible && roots[i].recognised;
		uint64_t references = gpu_stats(gpu).device_references;

		EXPECT_EQ(ioctl(gpu, FAKEGPU_IDENTIFY, &as), 0);
		EXPECT_EQ(load(), 0);
		EXPECT_EQ(gpu_stats(gpu).device_references, references);
		EXPECT_EQ(check_signal_of(map_once, &device), 0);
		EXPECT_EQ(unload(), 0);
	}
}

/* Pages are left held here by leaving out the function that gives them back. */
CASE_WITH_LOG(unloading_tells_what_is_held, UNLOADED, "gdrdrv: 1 page tables")
{
	struct pinned one;
	int log;

	EXPECT_EQ(load(), 0);
	one = pinned(GPU_PAGE, 0);
	if (gpu_fail_call(one.gpu, "gdrdrv_put_pages", true, 0)) {
		EXPECT_EQ(errno, EOPNOTSUPP);
		close(one.driver);
		EXPECT_EQ(unload(), 0);
		return;
	}
	close(one.driver);
	EXPECT_EQ(gpu_failed_calls(one.gpu), 1);
	log = check_open_log();
	EXPECT_EQ(unload(), 0);
	EXPECT_EQ(check_log_lines(log, "gdrdrv: 1 page tables of nvidia.ko were not released"), 1);
	EXPECT_EQ(ioctl(one.gpu, FAKEGPU_FORGET), 0);
}
