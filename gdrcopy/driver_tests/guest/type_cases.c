// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Which memory type a mapping has, and who else may have a say in it. */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

/* The same memory through two pins at once, one by one, is write-combining each time. */
CASE(mapping_of_overlapping_pins, EITHER)
{
	struct pinned one = mapped(4 * GPU_PAGE, 0), two = one;

	EXPECT_EQ(driver_pin(one.driver, one.address + GPU_PAGE, 2 * GPU_PAGE, &two.handle), 0);
	two.address += GPU_PAGE;
	two.size = 2 * GPU_PAGE;
	two.words = driver_map(two.driver, two.handle, two.size);
	EXPECT(two.words);
	gpu_expect_pages(&one, FAKEGPU_WRITE_COMBINING);
	gpu_expect_pages(&two, FAKEGPU_WRITE_COMBINING);
	two.words[5] = 42;
	EXPECT_EQ(one.words[GPU_PAGE / 8 + 5], 42);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	EXPECT_EQ(check_write(one.words), SIGBUS);
	EXPECT_EQ(two.words[5], 42);
	EXPECT_EQ(munmap((void *)two.words, two.size), 0);
	two.words = driver_map(two.driver, two.handle, two.size);
	gpu_expect_pages(&two, FAKEGPU_WRITE_COMBINING);
}

/* Who reserves the memory's type first decides, for one processor must not map it in two ways. */
CASE(mapping_of_memory_of_another_type, EITHER)
{
	int wanted = FAKEGPU_WRITE_COMBINING, gpu = gpu_open();
	uint64_t flags;

#ifdef __x86_64__
	wanted = FAKEGPU_UNCACHED;
#endif
	EXPECT_EQ(ioctl(gpu, FAKEGPU_MAP, &(struct fakegpu_map){ 0 }), 0);
	EXPECT(gpu_memory_types(gpu));
	for (flags = 0; flags <= FAKEGPU_SCATTERED; flags += FAKEGPU_SCATTERED) {
		struct pinned one = mapped(4 * GPU_PAGE, flags);

		/* The driver reports what it asked the kernel for. */
		struct gdrdrv_info_args info = { .handle = one.handle };

		EXPECT_EQ(driver_info(one.driver, one.handle).mapping, GDRDRV_MAPPING_WRITE_COMBINING);
		EXPECT_EQ(driver_call(one.driver, GDRDRV_GET_INFO, &info), 0);
		EXPECT_EQ(info.write_combining, 1);
		EXPECT_EQ(info.mapped, 1);
		gpu_expect_pages(&one, wanted);
		EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
		close(one.gpu);
	}
}

/* A first mapping of a part leaves a reservation of that part, which the next one has to replace. */
CASE(mapping_of_parts_and_all, EITHER)
{
	struct pinned one = mapped(4 * GPU_PAGE, 0);
	size_t size = one.size, part;

	for (part = (size_t)getpagesize(); part <= size; part += GPU_PAGE + (size_t)getpagesize()) {
		EXPECT_EQ(munmap((void *)one.words, one.size), 0);
		one.words = driver_map(one.driver, one.handle, part);
		one.size = part;
		gpu_expect_pages(&one, FAKEGPU_WRITE_COMBINING);
	}
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	EXPECT_EQ(munmap((void *)one.words, one.size), 0); /* from 6.16 on, an area keeps its own */
	EXPECT(gpu_memory_types(one.gpu) <= 0);
}

CASE(mapping_of_device_kind, DEVICE)
{
	struct pinned one = mapped(4 * GPU_PAGE, FAKEGPU_SCATTERED);

	gpu_expect_pages(&one, FAKEGPU_UNCACHED);
	EXPECT_EQ(driver_info(one.driver, one.handle).mapping, GDRDRV_MAPPING_DEVICE);
}

/* Only a processor that may have a coherent link believes the flag. */
CASE(mapping_of_cacheable_memory, EITHER)
{
	struct pinned one = mapped(4 * GPU_PAGE, FAKEGPU_CACHEABLE);
	struct gdrdrv_request_mapping_args args = { .mapping = GDRDRV_MAPPING_CACHED };
	uint64_t handle;
#ifdef __aarch64__
	bool coherent = true;
#elif defined(__powerpc64__)
	bool coherent = driver_info(one.driver, one.handle).mapping == GDRDRV_MAPPING_CACHED;
#else
	bool coherent = false;
#endif
	gpu_expect_pages(&one, coherent ? FAKEGPU_WRITE_BACK : FAKEGPU_WRITE_COMBINING);
	EXPECT_EQ(driver_info(one.driver, one.handle).mapping,
		  coherent ? GDRDRV_MAPPING_CACHED : GDRDRV_MAPPING_WRITE_COMBINING);
	EXPECT_EQ(driver_pin(one.driver, one.address, GPU_PAGE, &handle), 0);
	args.handle = handle;
	EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &args), coherent ? 0 : EOPNOTSUPP);
	if (check_mode == PERSISTENT) {
		struct gdrdrv_pin_v2_args forced = { .address = one.address, .size = GPU_PAGE,
						     .flags = GDRDRV_PIN_FORCE_PCIE };

		EXPECT_EQ(driver_call(one.driver, GDRDRV_PIN_V2, &forced), 0);
		args.handle = forced.handle;
		EXPECT_EQ(driver_call(one.driver, GDRDRV_REQUEST_MAPPING, &args), EOPNOTSUPP);
		handle = forced.handle;
		EXPECT(driver_map(one.driver, handle, GPU_PAGE));
		EXPECT_EQ(driver_info(one.driver, handle).mapping, GDRDRV_MAPPING_WRITE_COMBINING);
	}
}
