// SPDX-License-Identifier: MIT OR GPL-2.0
/* What the GPU driver may do wrong, or answer. */
#include "check.h"
#include "gpu.h"

static int pin_when(enum fakegpu_fault fault, int64_t value, uint64_t flags)
{
	int driver = driver_open(), gpu = gpu_open();
	uint64_t address = gpu_alloc(gpu, 2 * GPU_PAGE, flags), handle;
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
	EXPECT_EQ(pin_when(FAKEGPU_FAIL_GET, -ENOMEM, 0), ENOMEM);
	EXPECT_EQ(pin_when(FAKEGPU_FAIL_GET, -EIO, 0), EIO);
	EXPECT_EQ(pin_when(FAKEGPU_FAIL_GET, -524, 0), EOPNOTSUPP);
	EXPECT_EQ(pin_when(FAKEGPU_FAIL_GET, 7, 0), EIO);
}

CASE(tables_of_unknown_layout, EITHER)
{
	EXPECT_EQ(pin_when(FAKEGPU_VERSION, 0x30000, 0), EPROTO);
	EXPECT_EQ(pin_when(FAKEGPU_VERSION, 0, 0), EPROTO);
	EXPECT_EQ(pin_when(FAKEGPU_PAGE_SIZE, 0, 0), EPROTO);
	EXPECT_EQ(pin_when(FAKEGPU_PAGE_SIZE, 2, 0), EPROTO);
	EXPECT_EQ(pin_when(FAKEGPU_SHORT_TABLE, 0, 0), EPROTO);
	EXPECT_EQ(pin_when(0, 0, FAKEGPU_OFF_BY_A_BIT), EPROTO);
}

/* Older drivers' tables end earlier; that they have no flags is no error. */
CASE(tables_of_older_layout, EITHER)
{
	EXPECT_EQ(pin_when(FAKEGPU_VERSION, 0x10001, 0), 0);
	EXPECT_EQ(pin_when(FAKEGPU_VERSION, 0x10003, 0), 0);
	EXPECT_EQ(pin_when(FAKEGPU_VERSION, 0x20001, 0), 0);
}

CASE(memory_goes_while_it_is_pinned, CALLBACK)
{
	EXPECT_EQ(pin_when(FAKEGPU_FREE_WHILE_GETTING, 0, 0), EINVAL);
}

CASE(giving_back_fails, EITHER)
{
	struct pinned one = mapped(GPU_PAGE, 0);

	EXPECT_EQ(check_write(one.words), 0);
	gpu_go_wrong(one.gpu, FAKEGPU_FAIL_PUT, -EIO);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
}
