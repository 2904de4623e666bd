// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "gpu.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

static int open_node(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		check_failed(__FILE__, __LINE__, path, errno, 0);
		exit(1);
	}
	return fd;
}

int gpu_open(void)
{
	return open_node("/dev/fakegpu");
}

uint64_t gpu_alloc(int gpu, size_t size, uint64_t flags)
{
	struct fakegpu_alloc asked = { .size = size, .flags = flags };

	if (ioctl(gpu, FAKEGPU_ALLOC, &asked)) {
		check_failed(__FILE__, __LINE__, "allocate GPU memory", errno, 0);
		exit(1);
	}
	return asked.address;
}

int gpu_free(int gpu, uint64_t address, uint64_t delay_us)
{
	struct fakegpu_free asked = { .address = address, .delay_us = delay_us };

	return ioctl(gpu, FAKEGPU_FREE, &asked) ? errno : 0;
}

struct fakegpu_where gpu_where(int gpu, uint64_t address)
{
	struct fakegpu_where asked = { .address = address };

	EXPECT_EQ(ioctl(gpu, FAKEGPU_WHERE, &asked), 0);
	return asked;
}

struct fakegpu_stats gpu_stats(int gpu)
{
	struct fakegpu_stats stats = { 0 };

	EXPECT_EQ(ioctl(gpu, FAKEGPU_STATS, &stats), 0);
	return stats;
}

void gpu_go_wrong(int gpu, enum fakegpu_fault fault, int64_t value)
{
	struct fakegpu_go_wrong how = { .fault = fault, .value = value };

	EXPECT_EQ(ioctl(gpu, FAKEGPU_GO_WRONG, &how), 0);
}

struct fakegpu_look gpu_look(int gpu, const volatile void *at)
{
	struct fakegpu_look look = { .user_address = (uintptr_t)at };

	EXPECT_EQ(ioctl(gpu, FAKEGPU_LOOK, &look), 0);
	return look;
}

static int change_entry(int gpu, const volatile void *at, bool remove)
{
	struct fakegpu_plant how = { .user_address = (uintptr_t)at, .remove = remove };

	return ioctl(gpu, FAKEGPU_PLANT, &how) ? errno : 0;
}

int gpu_plant_entry(int gpu, const volatile void *at)
{
	return change_entry(gpu, at, false);
}

int gpu_remove_entry(int gpu, const volatile void *at)
{
	return change_entry(gpu, at, true);
}

void gpu_seem_ordinary(int gpu, const volatile void *at, bool ordinary)
{
	struct fakegpu_ordinary how = { .user_address = (uintptr_t)at, .ordinary = ordinary };

	EXPECT_EQ(ioctl(gpu, FAKEGPU_ORDINARY, &how), 0);
}

int gpu_memory_types(int gpu)
{
	struct fakegpu_stats stats = gpu_stats(gpu);
	FILE *list = fopen("/sys/kernel/debug/x86/pat_memtype_list", "r");
	unsigned long long begin, end;
	char line[128];
	int count = 0;

	if (!list)
		return -1;
	while (fgets(line, sizeof(line), list))
		if (sscanf(line, "PAT: [mem %llx-%llx]", &begin, &end) == 2)
			count += begin < stats.bar + stats.bar_size && end > stats.bar;
	fclose(list);
	return count;
}

int gpu_kernel_mappings(int gpu)
{
	struct fakegpu_stats stats = gpu_stats(gpu);
	FILE *list = fopen("/proc/vmallocinfo", "r");
	unsigned long long physical;
	char line[512], *at;
	int count = 0;

	while (list && fgets(line, sizeof(line), list)) {
		at = strstr(line, " phys=");
		if (at && sscanf(at, " phys=%llx", &physical) == 1)
			count += physical >= stats.bar && physical < stats.bar + stats.bar_size;
	}
	if (list)
		fclose(list);
	return count;
}

int gpu_fail_call(int gpu, const char *function, int64_t result, uint64_t after)
{
	struct fakegpu_fail_call asked = { .result = result, .after = after };

	strncpy(asked.function, function, sizeof(asked.function) - 1);
	return ioctl(gpu, FAKEGPU_FAIL_CALL, &asked) ? errno : 0;
}

uint64_t gpu_failed_calls(int gpu)
{
	struct fakegpu_fail_call asked = { .result = 0 };

	EXPECT_EQ(ioctl(gpu, FAKEGPU_FAIL_CALL, &asked), 0);
	return asked.calls;
}

int gpu_pause(int gpu, unsigned int which, const char *function)
{
	struct fakegpu_pause asked = { .which = which };

	strncpy(asked.function, function, sizeof(asked.function) - 1);
	return ioctl(gpu, FAKEGPU_PAUSE, &asked) ? errno : 0;
}

void gpu_wait_paused(int gpu, unsigned int which)
{
	struct fakegpu_pause asked = { .which = which };

	EXPECT_EQ(ioctl(gpu, FAKEGPU_WAIT_PAUSED, &asked), 0);
}

void gpu_continue(int gpu, unsigned int which)
{
	EXPECT_EQ(gpu_pause(gpu, which, ""), 0);
}

int module_load(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), result;

	if (fd < 0)
		return errno;
	result = syscall(SYS_finit_module, fd, parameters, 0) ? errno : 0;
	close(fd);
	return result;
}

int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? errno : 0;
}

const unsigned long driver_commands[] = {
	GDRDRV_PIN,	     GDRDRV_UNPIN,	   GDRDRV_GET_CALLBACK_FLAG, GDRDRV_GET_INFO,
	GDRDRV_GET_INFO_V2,  GDRDRV_GET_ATTRIBUTE, GDRDRV_PIN_V2,	     GDRDRV_REQUEST_MAPPING,
	GDRDRV_GET_FEATURES, GDRDRV_GET_USAGE,	   GDRDRV_GET_VERSION,	     0,
};

int driver_major(void)
{
	FILE *devices = fopen("/proc/devices", "r");
	int number, major = -1;
	char line[128], name[100];

	while (devices && fgets(line, sizeof(line), devices))
		if (sscanf(line, "%d %99s", &number, name) == 2 && !strcmp(name, "gdrdrv"))
			major = number;
	if (devices)
		fclose(devices);
	return major;
}

int driver_open(void)
{
	return open_node("/dev/gdrdrv");
}

int driver_call(int driver, unsigned long number, void *arguments)
{
	return ioctl(driver, number, arguments) ? errno : 0;
}

int driver_pin(int driver, uint64_t address, size_t size, uint64_t *handle)
{
	struct gdrdrv_pin_args asked = { .address = address, .size = size };
	int result = driver_call(driver, GDRDRV_PIN, &asked);

	*handle = asked.handle;
	return result;
}

int driver_unpin(int driver, uint64_t handle)
{
	struct gdrdrv_unpin_args asked = { .handle = handle };

	return driver_call(driver, GDRDRV_UNPIN, &asked);
}

struct gdrdrv_info_v2_args driver_info(int driver, uint64_t handle)
{
	struct gdrdrv_info_v2_args asked = { .handle = handle };

	EXPECT_EQ(driver_call(driver, GDRDRV_GET_INFO_V2, &asked), 0);
	return asked;
}

void *driver_map(int driver, uint64_t handle, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, driver,
			(off_t)(handle * (uint64_t)getpagesize()));

	return at == MAP_FAILED ? NULL : at;
}

int driver_callback_flag(int driver, uint64_t handle)
{
	struct gdrdrv_callback_flag_args asked = { .handle = handle };

	EXPECT_EQ(driver_call(driver, GDRDRV_GET_CALLBACK_FLAG, &asked), 0);
	return asked.flag;
}

struct pinned pinned(size_t size, uint64_t flags)
{
	struct pinned made = { .gpu = gpu_open(), .driver = driver_open(), .size = size };

	made.address = gpu_alloc(made.gpu, size, flags);
	if (driver_pin(made.driver, made.address, size, &made.handle)) {
		check_failed(__FILE__, __LINE__, "pin", errno, 0);
		exit(1);
	}
	return made;
}

struct pinned mapped_behind_a_table(size_t size, uint64_t flags, size_t bytes)
{
	const size_t table = 2ul << 20;
	struct pinned made = pinned(size, flags);
	char *place = mmap(NULL, size + 2 * table, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(place != MAP_FAILED);
	place += table - (uintptr_t)place % table + bytes % table;
	made.words = mmap(place, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, made.driver,
			  (off_t)(made.handle * (uint64_t)getpagesize()));
	EXPECT(made.words == (void *)place);
	return made;
}

void gpu_expect_pages(const struct pinned *one, uint64_t type)
{
	size_t offset;

	for (offset = 0; offset < one->size; offset += (size_t)getpagesize()) {
		const volatile char *at = (const volatile char *)one->words + offset;
		struct fakegpu_look look;

		(void)*at;
		look = gpu_look(one->gpu, at);
		EXPECT_EQ(look.present, 1);
		EXPECT_EQ(look.physical, gpu_where(one->gpu, one->address + offset).physical);
		EXPECT_EQ(look.memory_type, type);
	}
}

struct pinned mapped(size_t size, uint64_t flags)
{
	struct pinned made = pinned(size, flags);

	made.words = driver_map(made.driver, made.handle, size);
	if (!made.words) {
		check_failed(__FILE__, __LINE__, "map", errno, 0);
		exit(1);
	}
	return made;
}
