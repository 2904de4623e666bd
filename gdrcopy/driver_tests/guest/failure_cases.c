// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Functions of the kernel's that the driver calls fail, where the kernel can make them (FAKEGPU_FAIL_CALL). */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

/* False where the kernel cannot do it. */
static bool can_fail(int gpu, const char *function, int64_t result, uint64_t after)
{
	int code = gpu_fail_call(gpu, function, result, after);

	EXPECT(!code || code == EOPNOTSUPP || code == ENOENT); /* ENOENT: this processor's kernel has none */
	return !code;
}

/* Reads as a debugger while this function gives nothing. */
static void expect_access(const struct pinned *one, const char *function, bool fails)
{
	int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	uint64_t word = 0;

	((volatile uint64_t *)one->words)[9] = 99;
	if (can_fail(one->gpu, function, 0, 0)) {
		EXPECT_EQ(pread(memory, &word, sizeof(word), (off_t)(uintptr_t)(one->words + 9)),
			  fails ? -1 : (ssize_t)sizeof(word));
		EXPECT_EQ(gpu_failed_calls(one->gpu), fails);
		EXPECT_EQ(word, fails ? 0 : 99);
	}
	close(memory);
}

/* The kernel's own mapping for debuggers is of the same type as the process's: only memory that may be cached is. */
CASE(access_by_debuggers_fails, EITHER)
{
	struct pinned one = mapped(GPU_PAGE, 0), cacheable = mapped(GPU_PAGE, FAKEGPU_CACHEABLE);
	bool cached = driver_info(cacheable.driver, cacheable.handle).mapping == GDRDRV_MAPPING_CACHED;

	expect_access(&one, "memremap", false);
	expect_access(&cacheable, "memremap", cached);
#ifdef __x86_64__
	expect_access(&one, "ioremap", false);
	expect_access(&one, "ioremap_wc", true);
#endif
}

/* A fault that cannot put in a page ends in a signal, and the next one can. */
CASE(inserting_pages_fails, EITHER)
{
	const int64_t sigbus = 2; /* VM_FAULT_SIGBUS */
	struct pinned one = mapped(GPU_PAGE, 0);

	if (!can_fail(one.gpu, "vmf_insert_pfn", sigbus, 0))
		return;
	EXPECT_EQ(check_write(one.words), SIGBUS);
	EXPECT_EQ(gpu_failed_calls(one.gpu), 1);
	EXPECT_EQ(check_write(one.words), 0);
}

#ifdef __x86_64__

CASE(access_by_debuggers_fails_for_devices, DEVICE)
{
	struct pinned one = mapped(GPU_PAGE, 0);

	expect_access(&one, "ioremap", true);
	expect_access(&one, "ioremap_wc", false);
}

/* The mapping fails with the kernel's reason, and what had been reserved by then is not any more. */
CASE(reserving_the_memory_type_fails, EITHER)
{
	struct pinned one = pinned(4 * GPU_PAGE, FAKEGPU_SCATTERED);
	int types = gpu_memory_types(one.gpu), log;
	uint64_t after;

	for (after = 0; after < 4; after++) {
		if (!can_fail(one.gpu, "arch_io_reserve_memtype_wc", -EBUSY, after))
			return;
		log = check_open_log();
		EXPECT(!driver_map(one.driver, one.handle, one.size));
		EXPECT_EQ(errno, EBUSY);
		EXPECT_EQ(check_log_lines(log, "cannot be reserved: -16"), 1);
		EXPECT_EQ(gpu_failed_calls(one.gpu), 1);
		EXPECT_EQ(gpu_memory_types(one.gpu), types);
	}
	one.words = driver_map(one.driver, one.handle, one.size);
	EXPECT(one.words);
	gpu_expect_pages(&one, FAKEGPU_WRITE_COMBINING);
}

#endif
