// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The numbers and layouts, and one case for each argument that is refused. */
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

/* As compiled into every libgdrapi. */
_Static_assert(GDRDRV_PIN == 0xc028da01 && sizeof(struct gdrdrv_pin_args) == 40, "pin");
_Static_assert(GDRDRV_UNPIN == 0xc008da02 && sizeof(struct gdrdrv_unpin_args) == 8, "unpin");
_Static_assert(GDRDRV_GET_CALLBACK_FLAG == 0xc008da03, "callback flag");
_Static_assert(sizeof(struct gdrdrv_callback_flag_args) == 16, "callback flag");
_Static_assert(GDRDRV_GET_INFO == 0xc008da04 && sizeof(struct gdrdrv_info_args) == 48, "info");
_Static_assert(GDRDRV_GET_INFO_V2 == 0xc008da05, "info v2");
_Static_assert(sizeof(struct gdrdrv_info_v2_args) == 48, "info v2");
_Static_assert(GDRDRV_GET_ATTRIBUTE == 0xc008da06, "attribute");
_Static_assert(GDRDRV_PIN_V2 == 0xc020da07 && sizeof(struct gdrdrv_pin_v2_args) == 32, "pin v2");
_Static_assert(GDRDRV_REQUEST_MAPPING == 0xc008da08, "request mapping");
_Static_assert(sizeof(struct gdrdrv_request_mapping_args) == 16, "request mapping");
_Static_assert(GDRDRV_GET_VERSION == 0xc008daff, "version");
_Static_assert(GDRDRV_GET_FEATURES == 0xc018da40, "features");
_Static_assert(GDRDRV_GET_USAGE == 0xc038da41, "usage");
_Static_assert(sizeof(struct gdrdrv_event) == 40, "event");

CASE(abi_version, EITHER)
{
	struct gdrdrv_version_args args = { 0 };
	int driver = driver_open();

	EXPECT_EQ(driver_call(driver, GDRDRV_GET_VERSION, &args), 0);
	EXPECT_EQ(args.driver, 0x20006);
	EXPECT_EQ(args.oldest_library, 0x20000);
}

CASE(abi_attributes, EITHER)
{
	int driver = driver_open(), persistent = check_mode == PERSISTENT;
	struct gdrdrv_attribute_args args = { .attribute = GDRDRV_ATTRIBUTE_PERSISTENT };

	EXPECT_EQ(driver_call(driver, GDRDRV_GET_ATTRIBUTE, &args), 0);
	EXPECT_EQ(args.value, persistent);
	args.attribute = GDRDRV_ATTRIBUTE_FORCE_PCIE;
	EXPECT_EQ(driver_call(driver, GDRDRV_GET_ATTRIBUTE, &args), 0);
	EXPECT_EQ(args.value, persistent);
	args.attribute = 0;
	EXPECT_EQ(driver_call(driver, GDRDRV_GET_ATTRIBUTE, &args), EINVAL);
	args.attribute = 3;
	EXPECT_EQ(driver_call(driver, GDRDRV_GET_ATTRIBUTE, &args), EINVAL);
}

CASE(abi_features, EITHER)
{
	struct gdrdrv_features_args args = { 0 };
	int driver = driver_open();

	EXPECT_EQ(driver_call(driver, GDRDRV_GET_FEATURES, &args), 0);
	EXPECT_EQ(args.features, check_mode == PERSISTENT ?
					 GDRDRV_FEATURE_PERSISTENT | GDRDRV_FEATURE_FORCE_PCIE :
					 GDRDRV_FEATURE_EVENTS);
	EXPECT_EQ(args.event_size, sizeof(struct gdrdrv_event));
	EXPECT_EQ(args.event_capacity, 256);
	args.reserved = 1;
	EXPECT_EQ(driver_call(driver, GDRDRV_GET_FEATURES, &args), EINVAL);
}

CASE(abi_usage, EITHER)
{
	struct pinned one = pinned(2 * GPU_PAGE, 0);
	struct gdrdrv_usage_args args = { 0 };
	int other = driver_open();
	uint64_t handle;

	EXPECT_EQ(driver_pin(other, one.address, GPU_PAGE, &handle), 0);
	EXPECT_EQ(driver_call(one.driver, GDRDRV_GET_USAGE, &args), 0);
	EXPECT_EQ(args.pins, 1);
	EXPECT_EQ(args.bytes, 2 * GPU_PAGE);
	EXPECT_EQ(args.user_pins, 2);
	EXPECT_EQ(args.user_bytes, 3 * GPU_PAGE);
	EXPECT_EQ(args.max_user_pins, 0);
	EXPECT_EQ(args.max_user_bytes, 0);
	args.reserved = 1;
	EXPECT_EQ(driver_call(one.driver, GDRDRV_GET_USAGE, &args), EINVAL);
}

CASE(refused_commands, EITHER)
{
	struct gdrdrv_pin_args args = { 0 };
	int driver = driver_open();
	unsigned int number;

	EXPECT_EQ(driver_call(driver, _IOWR('G', 1, struct gdrdrv_pin_args), &args), EINVAL);
	for (number = 0; number < 256; number++) {
		bool known = (number >= 1 && number <= 8) || number == 64 || number == 65 ||
			     number == 255;

		/* A known number with another size is another command. */
		EXPECT_EQ(driver_call(driver, _IOWR(GDRDRV_MAGIC, number, char), &args), ENOTTY);
		if (!known)
			EXPECT_EQ(driver_call(driver, _IOWR(GDRDRV_MAGIC, number, void *), &args),
				  ENOTTY);
	}
}

CASE(refused_pointers, EITHER)
{
	int driver = driver_open();
	unsigned int i;

	for (i = 0; driver_commands[i]; i++) {
		EXPECT_EQ(driver_call(driver, driver_commands[i], NULL), EFAULT);
		EXPECT_EQ(driver_call(driver, driver_commands[i], (void *)-64l), EFAULT);
	}
}

/* Read from but not written to; a pin whose handle cannot be returned is undone. */
CASE(refused_answers, EITHER)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	union {
		struct gdrdrv_pin_args pin;
		struct gdrdrv_pin_v2_args pin_v2;
		struct gdrdrv_info_args info;
		struct gdrdrv_attribute_args attribute;
		struct gdrdrv_features_args features;
		struct gdrdrv_usage_args usage;
	} *args = page;
	struct gdrdrv_usage_args usage = { 0 };
	unsigned int i;

	for (i = 0; driver_commands[i]; i++) {
		if (driver_commands[i] == GDRDRV_UNPIN || driver_commands[i] == GDRDRV_REQUEST_MAPPING)
			continue;
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
		memset(args, 0, sizeof(*args));
		if (driver_commands[i] == GDRDRV_PIN || driver_commands[i] == GDRDRV_PIN_V2) {
			args->pin.address = one.address;
			args->pin.size = GPU_PAGE;
		} else if (driver_commands[i] == GDRDRV_GET_ATTRIBUTE) {
			args->attribute.attribute = GDRDRV_ATTRIBUTE_PERSISTENT;
		} else if (driver_commands[i] != GDRDRV_GET_FEATURES && driver_commands[i] != GDRDRV_GET_USAGE) {
			args->info.handle = one.handle;
		}
		mprotect(page, 4096, PROT_READ);
		EXPECT_EQ(driver_call(one.driver, driver_commands[i], args), EFAULT);
	}
	EXPECT_EQ(driver_call(one.driver, GDRDRV_GET_USAGE, &usage), 0);
	EXPECT_EQ(usage.pins, 1);
	EXPECT_EQ(gpu_stats(one.gpu).tables, 1);
}

CASE(refused_pins, EITHER)
{
	int driver = driver_open(), gpu = gpu_open();
	uint64_t address = gpu_alloc(gpu, 4 * GPU_PAGE, 0), handle;
	struct gdrdrv_pin_v2_args v2 = { .address = address, .size = GPU_PAGE };
	int i;

	EXPECT_EQ(driver_pin(driver, 0, GPU_PAGE, &handle), EINVAL);
	EXPECT_EQ(driver_pin(driver, address, 0, &handle), EINVAL);
	EXPECT_EQ(driver_pin(driver, address, UINT64_MAX, &handle), EINVAL);
	EXPECT_EQ(driver_pin(driver, address, UINT64_MAX - address - 1, &handle), EINVAL);
	EXPECT_EQ(driver_pin(driver, UINT64_MAX - GPU_PAGE, GPU_PAGE, &handle), EINVAL);
	/* More pages than nvidia.ko can count: refused here, and no handles are used up. */
	for (i = 0; i < 4; i++)
		EXPECT_EQ(driver_pin(driver, address, 1ull << 62, &handle), EINVAL);
	EXPECT_EQ(driver_pin(driver, address, (1ull << 48) + GPU_PAGE, &handle), EINVAL);
	EXPECT_EQ(driver_pin(driver, address, GPU_PAGE, &handle), 0);
	EXPECT_EQ(handle, 1);
	EXPECT_EQ(driver_unpin(driver, handle), 0);
	EXPECT_EQ(driver_pin(driver, address, 5 * GPU_PAGE, &handle), EINVAL);
	EXPECT_EQ(driver_pin(driver, address - GPU_PAGE, GPU_PAGE, &handle), EINVAL);
	EXPECT_EQ(driver_pin(driver, 4096, GPU_PAGE, &handle), EINVAL);

	v2.flags = 2;
	EXPECT_EQ(driver_call(driver, GDRDRV_PIN_V2, &v2), EINVAL);
	v2.flags = 0x80000001;
	EXPECT_EQ(driver_call(driver, GDRDRV_PIN_V2, &v2), EINVAL);
	v2.flags = GDRDRV_PIN_FORCE_PCIE;
	EXPECT_EQ(driver_call(driver, GDRDRV_PIN_V2, &v2), check_mode == PERSISTENT ? 0 : EINVAL);
	if (check_mode == PERSISTENT) {
		EXPECT_EQ(gpu_stats(gpu).last_flags, 1);
		EXPECT_EQ(driver_unpin(driver, v2.handle), 0);
	}
	v2.flags = 0;
	v2.address = 0;
	EXPECT_EQ(driver_call(driver, GDRDRV_PIN_V2, &v2), EINVAL);
	EXPECT_EQ(gpu_stats(gpu).tables, 0);
}

/* In the original, a token in persistent mode releases a semaphore that is not held. */
CASE(tokens, EITHER)
{
	int driver = driver_open(), gpu = gpu_open();
	struct gdrdrv_pin_args args = { .address = gpu_alloc(gpu, GPU_PAGE, 0), .size = GPU_PAGE };
	int wanted = check_mode == PERSISTENT ? EINVAL : 0;

	args.p2p_token = 0x123456789abcull;
	EXPECT_EQ(driver_call(driver, GDRDRV_PIN, &args), wanted);
	args.p2p_token = 0;
	args.va_space = 77;
	EXPECT_EQ(driver_call(driver, GDRDRV_PIN, &args), wanted);
	args.p2p_token = 0x123456789abcull;
	EXPECT_EQ(driver_call(driver, GDRDRV_PIN, &args), wanted);
	if (check_mode == CALLBACK) {
		EXPECT_EQ(gpu_stats(gpu).last_token, 0x123456789abcull);
		EXPECT_EQ(gpu_stats(gpu).last_va_space, 77);
	}
}

/* In the original, unpinning what does not exist unpins something else. */
CASE(refused_handles, EITHER)
{
	struct pinned one = mapped(4 * GPU_PAGE, 0);
	uint64_t const none[] = { 0, one.handle + 1, one.handle - 1, one.handle + 1000, UINT64_MAX,
				  1ull << 63 };
	unsigned int i;

	for (i = 0; i < sizeof(none) / sizeof(*none); i++) {
		struct gdrdrv_info_args info = { .handle = none[i] };
		struct gdrdrv_info_v2_args info_v2 = { .handle = none[i] };
		struct gdrdrv_callback_flag_args flag = { .handle = none[i] };
		struct gdrdrv_request_mapping_args request = { .handle = none[i] };

		EXPECT_EQ(driver_unpin(one.driver, none[i]), EINVAL);
		EXPECT_EQ(driver_call(one.driver, GDRDRV_GET_INFO, &info), EINVAL);
		EXPECT_EQ(driver_call(one.driver, GDRDRV_GET_INFO_V2, &info_v2), EINVAL);
		EXPECT_EQ(driver_call(one.driver, GDRDRV_GET_CALLBACK_FLAG, &flag), EINVAL);
		EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &request), EINVAL);
	}
	EXPECT_EQ(gpu_stats(one.gpu).tables, 1);
	EXPECT_EQ(check_write(one.words), 0);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), EINVAL);
}

/* A handle means nothing on another descriptor. */
CASE(handles_of_others, EITHER)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	int other = driver_open();

	EXPECT_EQ(driver_unpin(other, one.handle), EINVAL);
	EXPECT(!driver_map(other, one.handle, GPU_PAGE));
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
}

CASE(information, EITHER)
{
	struct pinned one = pinned(3 * GPU_PAGE, 0);
	struct gdrdrv_info_args info = { .handle = one.handle };
	struct gdrdrv_info_v2_args v2 = driver_info(one.driver, one.handle);
	uint64_t inside;

	EXPECT_EQ(driver_call(one.driver, GDRDRV_GET_INFO, &info), 0);
	EXPECT_EQ(info.va, one.address);
	EXPECT_EQ(info.mapped_size, one.size);
	EXPECT_EQ(info.page_size, GPU_PAGE);
	EXPECT_EQ(info.mapped, 0);
	EXPECT_EQ(info.write_combining, 0);
	EXPECT_EQ(v2.va, one.address);
	EXPECT_EQ(v2.mapped_size, one.size);
	EXPECT_EQ(v2.page_size, GPU_PAGE);
	EXPECT_EQ(v2.mapping, GDRDRV_MAPPING_NONE);
#ifdef __x86_64__
	EXPECT(v2.tm_cycles > 0 && v2.tsc_khz > 0);
#endif
	EXPECT_EQ(info.tm_cycles, v2.tm_cycles);

	/* What is not whole pages is rounded outwards. */
	EXPECT_EQ(driver_pin(one.driver, one.address + GPU_PAGE + 100, 200, &inside), 0);
	v2 = driver_info(one.driver, inside);
	EXPECT_EQ(v2.va, one.address + GPU_PAGE);
	EXPECT_EQ(v2.mapped_size, GPU_PAGE);
	EXPECT_EQ(driver_unpin(one.driver, inside), 0);
	EXPECT_EQ(driver_pin(one.driver, one.address + GPU_PAGE - 1, 2, &inside), 0);
	EXPECT_EQ(driver_info(one.driver, inside).mapped_size, 2 * GPU_PAGE);
	EXPECT_EQ(driver_unpin(one.driver, inside), 0);
}

/* A range of mmap offsets identifies one pin: it takes as many numbers as it has pages of the CPU's. */
CASE(handles_follow_each_other, EITHER)
{
	struct pinned one = pinned(3 * GPU_PAGE, 0);
	uint64_t next, last;

	EXPECT(one.handle);
	EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &next), 0);
	EXPECT_EQ(next, one.handle + one.size / (size_t)getpagesize());
	EXPECT_EQ(driver_unpin(one.driver, next), 0);
	EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &last), 0);
	EXPECT_EQ(last, next + GPU_PAGE / (size_t)getpagesize());
}

/* Line by line as gdrcopy's driver has it, for scripts. */
CASE(settings_in_proc, EITHER)
{
	char text[200] = "", wanted[2][200];
	FILE *file = fopen("/proc/driver/gdrdrv/params", "r");
	int i;

	for (i = 0; i < 2; i++)
		snprintf(wanted[i], sizeof(wanted[i]),
			 "Version: 2.6\nBuilt for NVIDIA driver flavor: %s\nUse persistent mapping: %s\n"
			 "dbg_enabled: 0\ninfo_enabled: 0\n",
			 i ? "opensource" : "proprietary", check_mode == PERSISTENT ? "yes" : "no");
	EXPECT(file && fread(text, 1, sizeof(text) - 1, file));
	EXPECT(!strcmp(text, wanted[0]) || !strcmp(text, wanted[1]));
	if (file)
		fclose(file);
}

#ifdef __x86_64__
/* GET_INFO reports a part of the time that the whole call took. */
CASE(cycles_of_a_pin, EITHER)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	uint64_t handle, begin, end;

	gpu_go_wrong(one.gpu, FAKEGPU_SLOW_GET, 5);
	begin = __builtin_ia32_rdtsc();
	EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &handle), 0);
	end = __builtin_ia32_rdtsc();
	EXPECT(driver_info(one.driver, handle).tm_cycles > 0);
	EXPECT(driver_info(one.driver, handle).tm_cycles <= end - begin);
}
#endif

CASE(refused_requests, EITHER)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	struct gdrdrv_request_mapping_args args = { .handle = one.handle, .mapping = 4 };

	EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &args), EINVAL);
	args.mapping = UINT32_MAX;
	EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &args), EINVAL);
	args.mapping = GDRDRV_MAPPING_CACHED;
	EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &args), EOPNOTSUPP);
	args.mapping = GDRDRV_MAPPING_DEVICE;
	EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &args), EOPNOTSUPP);
	args.mapping = GDRDRV_MAPPING_NONE;
	EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &args), 0);
	args.mapping = GDRDRV_MAPPING_WRITE_COMBINING;
	EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &args), 0);
	EXPECT(driver_map(one.driver, one.handle, GPU_PAGE));
	EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &args), EBUSY);
}

CASE(refused_device_requests, DEVICE)
{
	struct pinned one = pinned(GPU_PAGE, 0);
	struct gdrdrv_request_mapping_args args = { .handle = one.handle,
						    .mapping = GDRDRV_MAPPING_WRITE_COMBINING };

	EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &args), EOPNOTSUPP);
	args.mapping = GDRDRV_MAPPING_DEVICE;
	EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &args), 0);
}
