// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Mapping, and what remains of a mapping when the memory was released. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

static void *map_with(const struct pinned *one, size_t size, int protection, int flags, off_t pages)
{
	void *at = mmap(NULL, size, protection, flags, one->driver,
			(off_t)(one->handle * (uint64_t)getpagesize()) + pages * getpagesize());

	return at == MAP_FAILED ? NULL : at;
}

CASE(mapping, EITHER)
{
	struct pinned one = mapped(8 * GPU_PAGE, 0);
	struct gdrdrv_info_args info = { .handle = one.handle };

	gpu_expect_pages(&one, FAKEGPU_WRITE_COMBINING);
	EXPECT_EQ(driver_info(one.driver, one.handle).mapping, GDRDRV_MAPPING_WRITE_COMBINING);
	EXPECT_EQ(driver_call(one.driver, GDRDRV_GET_INFO, &info), 0);
	EXPECT_EQ(info.mapped, 1);
	EXPECT_EQ(info.write_combining, 1);
	EXPECT_EQ(munmap((void *)one.words, one.size), 0);
	EXPECT_EQ(driver_info(one.driver, one.handle).mapping, GDRDRV_MAPPING_NONE);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
}

/* In the original, pages that are not contiguous are uncached. */
CASE(mapping_of_scattered_pages, EITHER)
{
	struct pinned one = mapped(16 * GPU_PAGE, FAKEGPU_SCATTERED);

	gpu_expect_pages(&one, FAKEGPU_WRITE_COMBINING);
}

/* Runs of pages with holes between, short and long, and with ends that stand alone. */
CASE(mapping_of_runs, EITHER)
{
	static const uint64_t layouts[] = {
		FAKEGPU_RUNS(1),      FAKEGPU_RUNS(2),	   FAKEGPU_RUNS(3),	  FAKEGPU_RUNS(31),
		FAKEGPU_RUNS(32),     FAKEGPU_RUNS(33),	   FAKEGPU_FIRST_APART,	  FAKEGPU_LAST_APART,
		FAKEGPU_FIRST_APART | FAKEGPU_LAST_APART,
	};
	size_t sizes[] = { 2 * GPU_PAGE, 7 * GPU_PAGE, 67 * GPU_PAGE };
	unsigned int i, j;

	for (i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		for (j = 0; j < sizeof(sizes) / sizeof(*sizes); j++) {
			struct pinned one = mapped(sizes[j], layouts[i]);

			gpu_expect_pages(&one, FAKEGPU_WRITE_COMBINING);
			EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
			EXPECT_EQ(munmap((void *)one.words, one.size), 0);
			close(one.driver);
			close(one.gpu);
		}
}

#ifdef __x86_64__
/*
 * An entry that is not the driver's stays as it is, and a fault beside it maps the rest of the GPU's page right, as far
 * as one page table goes.
 */
static void fault_beside_a_foreign_entry(int place, uint64_t flags, size_t behind_a_table)
{
	const int pages = GPU_PAGE / 4096;
	struct pinned one = mapped_behind_a_table(2 * GPU_PAGE, flags, behind_a_table);
	char *bytes = (char *)one.words, *foreign = bytes + place * 4096, *touched = bytes + (place + 5) % pages * 4096;
	int i;

	EXPECT_EQ(gpu_plant_entry(one.gpu, foreign), 0);
	EXPECT_EQ(check_write(touched), 0);
	for (i = 0; i < pages; i++) {
		bool in_table = (uintptr_t)(bytes + i * 4096) >> 21 == (uintptr_t)touched >> 21;
		struct fakegpu_look look = gpu_look(one.gpu, bytes + i * 4096);

		EXPECT_EQ(look.present, i != place && in_table);
		if (!look.present)
			continue;
		EXPECT_EQ(look.physical, gpu_where(one.gpu, one.address + i * 4096).physical);
		EXPECT_EQ(look.memory_type, FAKEGPU_WRITE_COMBINING);
	}
	EXPECT_EQ(gpu_remove_entry(one.gpu, foreign), 0);
	gpu_expect_pages(&one, FAKEGPU_WRITE_COMBINING);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
}

CASE(foreign_entries_of_page_tables, EITHER)
{
	static const int places[] = { 0, 7, 15 };
	unsigned int i;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		fault_beside_a_foreign_entry(places[i], 0, 0);
		fault_beside_a_foreign_entry(places[i], FAKEGPU_SCATTERED, 0);
		fault_beside_a_foreign_entry(places[i], 0, (2ul << 20) - 10 * 4096);
	}
}
#endif

CASE(mapping_of_a_part, EITHER)
{
	struct pinned one = pinned(8 * GPU_PAGE, FAKEGPU_SCATTERED);
	size_t part = GPU_PAGE + (size_t)getpagesize();

	one.words = driver_map(one.driver, one.handle, part);
	EXPECT(one.words);
	one.size = part;
	gpu_expect_pages(&one, FAKEGPU_WRITE_COMBINING);
}

/* A fault inserts a page of the GPU's, of which a program may have unmapped the beginning or the end before. */
CASE(mapping_of_parts_of_gpu_pages, EITHER)
{
	const size_t cut = 3 * (size_t)getpagesize();
	struct pinned one = mapped(8 * GPU_PAGE, 0);
	char *bytes = (char *)one.words;
	size_t offset;

	EXPECT_EQ(munmap(bytes, cut), 0);
	EXPECT_EQ(munmap(bytes + one.size - cut, cut), 0);
	for (offset = cut; offset < one.size - cut; offset += (size_t)getpagesize()) {
		EXPECT_EQ(check_write(bytes + offset), 0);
		EXPECT_EQ(gpu_look(one.gpu, bytes + offset).physical, gpu_where(one.gpu, one.address + offset).physical);
	}
	EXPECT_EQ(check_read(bytes), SIGSEGV);
	EXPECT_EQ(check_read(bytes + one.size - 1), SIGSEGV);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	EXPECT_EQ(check_read(bytes + cut), SIGBUS);
}

CASE(mapping_again, EITHER)
{
	struct pinned one = mapped(2 * GPU_PAGE, 0);
	int i;

	for (i = 0; i < 3; i++) {
		one.words[i] = 1000 + i;
		EXPECT(!driver_map(one.driver, one.handle, one.size));
		EXPECT_EQ(errno, EINVAL);
		EXPECT_EQ(munmap((void *)one.words, one.size), 0);
		one.words = driver_map(one.driver, one.handle, one.size);
		EXPECT(one.words);
		EXPECT_EQ(one.words[i], 1000 + i);
	}
}

CASE(mapping_for_reading, EITHER)
{
	struct pinned one = mapped(GPU_PAGE, 0);

	one.words[7] = 77;
	EXPECT_EQ(munmap((void *)one.words, one.size), 0);
	one.words = map_with(&one, one.size, PROT_READ, MAP_SHARED, 0);
	EXPECT(one.words);
	EXPECT_EQ(one.words[7], 77);
	EXPECT_EQ(check_write(one.words), SIGSEGV);
	EXPECT_EQ(mprotect((void *)one.words, one.size, PROT_READ | PROT_WRITE), 0);
	gpu_expect_pages(&one, FAKEGPU_WRITE_COMBINING);
	EXPECT_EQ(check_write(one.words), 0);
}

/* The address that a program asks for is used where it is free; an older mapping there stays. */
CASE(mapping_at_a_wished_place, EITHER)
{
	static const size_t sizes[] = { GPU_PAGE, 64 * GPU_PAGE };
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct pinned one = pinned(sizes[i], 0);
		off_t offset = (off_t)(one.handle * (uint64_t)getpagesize());
		char *place = mmap(NULL, one.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *at;

		EXPECT(place != MAP_FAILED);
		memset(place, 0x5a, one.size);
		at = mmap(place, one.size, PROT_READ | PROT_WRITE, MAP_SHARED, one.driver, offset);
		EXPECT(at != MAP_FAILED && at != place);
		EXPECT_EQ(check_write(at), 0);
		EXPECT_EQ(place[0], 0x5a);
		EXPECT_EQ(place[one.size - 1], 0x5a);
		EXPECT_EQ(munmap(at, one.size), 0);
		EXPECT_EQ(munmap(place, one.size), 0);
		at = mmap(place, one.size, PROT_READ | PROT_WRITE, MAP_SHARED, one.driver, offset);
		EXPECT(at == place);
		EXPECT_EQ(check_write(at), 0);
	}
}

/* Pages are put in when they may be accessed, and not before. */
CASE(mapping_without_access, EITHER)
{
	uint64_t flags;

	for (flags = 0; flags <= FAKEGPU_SCATTERED; flags += FAKEGPU_SCATTERED) {
		struct pinned one = pinned(4 * GPU_PAGE, flags);

		one.words = map_with(&one, one.size, PROT_NONE, MAP_SHARED, 0);
		EXPECT(one.words);
		EXPECT_EQ(gpu_look(one.gpu, one.words).present, 0);
		EXPECT_EQ(check_read(one.words), SIGSEGV);
		EXPECT_EQ(mprotect((void *)one.words, one.size, PROT_READ | PROT_WRITE), 0);
		gpu_expect_pages(&one, FAKEGPU_WRITE_COMBINING);
		EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
		EXPECT_EQ(check_read(one.words), SIGBUS);
		close(one.gpu);
	}
}

CASE(refused_mappings, EITHER)
{
	struct pinned one = pinned(2 * GPU_PAGE, 0);
	int both = PROT_READ | PROT_WRITE;
	uint64_t inside;

	EXPECT(!map_with(&one, one.size, both, MAP_PRIVATE, 0));
	EXPECT_EQ(errno, EINVAL);
	EXPECT(!map_with(&one, one.size, PROT_READ, MAP_PRIVATE, 0));
	EXPECT_EQ(errno, EINVAL);
	EXPECT(!map_with(&one, GPU_PAGE, both, MAP_SHARED, 1));
	EXPECT_EQ(errno, EINVAL);
	EXPECT(!map_with(&one, GPU_PAGE, both, MAP_SHARED, 1000));
	EXPECT_EQ(errno, EINVAL);
	EXPECT(!map_with(&one, one.size + 1, both, MAP_SHARED, 0));
	EXPECT_EQ(errno, EINVAL);
	EXPECT(!map_with(&one, 1ul << 40, both, MAP_SHARED, 0));
	EXPECT_EQ(errno, EINVAL);
	/* A pin that starts inside a page, since its mapping could not start there. */
	EXPECT_EQ(driver_pin(one.driver, one.address + 4096, 4096, &inside), 0);
	EXPECT(!driver_map(one.driver, inside, GPU_PAGE));
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(driver_unpin(one.driver, inside), 0);
	EXPECT(!driver_map(one.driver, inside, GPU_PAGE));
	EXPECT_EQ(errno, EINVAL);
}

static void expect_gone(volatile void *at)
{
	EXPECT_EQ(check_read(at), SIGBUS);
	EXPECT_EQ(check_write(at), SIGBUS);
}

CASE(unpin_of_a_mapped_pin, EITHER)
{
	struct pinned one = mapped(64 * GPU_PAGE, 0); /* more than one page table holds */
	volatile char *bytes = (volatile char *)one.words;

	EXPECT_EQ(check_write(bytes), 0);
	EXPECT_EQ(check_write(bytes + one.size - 1), 0);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	expect_gone(bytes);
	expect_gone(bytes + one.size - 1);
	EXPECT_EQ(gpu_stats(one.gpu).tables, 0);
	EXPECT_EQ(munmap((void *)one.words, one.size), 0);
}

CASE(unpin_before_the_first_access, EITHER)
{
	struct pinned one = mapped(GPU_PAGE, 0);

	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	expect_gone(one.words);
}

/* In the original, the half that stays mapped can be written after the unpin. */
CASE(unpin_after_munmap_of_a_half, EITHER)
{
	int lower;

	for (lower = 0; lower < 2; lower++) {
		struct pinned one = mapped(4 * GPU_PAGE, 0);
		char *bytes = (char *)one.words;
		char *rest = lower ? bytes + one.size / 2 : bytes;

		EXPECT_EQ(check_write(bytes), 0);
		EXPECT_EQ(munmap(lower ? bytes : bytes + one.size / 2, one.size / 2), 0);
		EXPECT_EQ(check_write(rest), 0);
		/* What is mapped in part is mapped. */
		EXPECT_EQ(driver_info(one.driver, one.handle).mapping,
			  GDRDRV_MAPPING_WRITE_COMBINING);
		EXPECT(!driver_map(one.driver, one.handle, one.size));
		EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
		expect_gone(rest);
		expect_gone(rest + one.size / 2 - 1);
		EXPECT_EQ(gpu_stats(one.gpu).tables, 0);
		EXPECT_EQ(munmap(rest, one.size / 2), 0);
		close(one.driver);
		close(one.gpu);
	}
}

CASE(unpin_after_a_hole, EITHER)
{
	struct pinned one = mapped(6 * GPU_PAGE, FAKEGPU_SCATTERED);
	char *bytes = (char *)one.words;

	EXPECT_EQ(munmap(bytes + 2 * GPU_PAGE, 2 * GPU_PAGE), 0);
	EXPECT_EQ(check_write(bytes), 0);
	EXPECT_EQ(check_write(bytes + 4 * GPU_PAGE), 0);
	EXPECT_EQ(mprotect(bytes + GPU_PAGE, GPU_PAGE, PROT_READ), 0);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	expect_gone(bytes);
	EXPECT_EQ(check_read(bytes + GPU_PAGE), SIGBUS);
	expect_gone(bytes + 5 * GPU_PAGE);
}

/* In the original, the mapping at its new place can be written after the unpin. */
CASE(unpin_after_mremap, EITHER)
{
	struct pinned one = mapped(4 * GPU_PAGE, FAKEGPU_SCATTERED);
	char *place = mmap(NULL, one.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *moved;

	one.words[9] = 99;
	moved = mremap((void *)one.words, one.size, one.size, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	EXPECT(moved == place);
	one.words = (void *)moved;
	EXPECT_EQ(one.words[9], 99);
	gpu_expect_pages(&one, FAKEGPU_WRITE_COMBINING);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	expect_gone(moved);
	expect_gone(moved + one.size - 1);
}

CASE(unpin_after_mremap_of_a_half, EITHER)
{
	struct pinned one = mapped(4 * GPU_PAGE, 0);
	char *bytes = (char *)one.words, *half = bytes + one.size / 2, *moved;
	char *place = mmap(NULL, one.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	one.words[one.size / 16 + 3] = 333;
	moved = mremap(half, one.size / 2, one.size / 2, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	EXPECT(moved == place);
	EXPECT_EQ(((volatile uint64_t *)moved)[3], 333);
	EXPECT_EQ(check_write(bytes), 0);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	expect_gone(bytes);
	expect_gone(moved);
}

/* An old size of 0 would make a second mapping of the same pages; the kernel sees growth in it. */
CASE(no_copy_by_mremap, EITHER)
{
	struct pinned one = mapped(2 * GPU_PAGE, 0);

	EXPECT(mremap((void *)one.words, 0, one.size, MREMAP_MAYMOVE) == MAP_FAILED);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(check_write(one.words), 0);
}

CASE(no_growth, EITHER)
{
	struct pinned one = pinned(4 * GPU_PAGE, 0);

	one.words = driver_map(one.driver, one.handle, GPU_PAGE);
	EXPECT(mremap((void *)one.words, GPU_PAGE, 2 * GPU_PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
	EXPECT_EQ(errno, EFAULT);
}

/* Closing does not unmap: the mapping holds the file. */
CASE(mapping_after_close, EITHER)
{
	struct pinned one = mapped(GPU_PAGE, 0);

	close(one.driver);
	EXPECT_EQ(check_write(one.words), 0);
	EXPECT_EQ(munmap((void *)one.words, one.size), 0);
	EXPECT_EQ(gpu_stats(one.gpu).tables, 0);
}

CASE(many_pins, EITHER)
{
	struct pinned one = pinned(4 * GPU_PAGE, 0);
	uint64_t handles[300];
	void *maps[300];
	int i;

	for (i = 0; i < 300; i++) {
		EXPECT_EQ(driver_pin(one.driver, one.address + (i % 4) * GPU_PAGE, GPU_PAGE,
				     &handles[i]), 0);
		maps[i] = driver_map(one.driver, handles[i], GPU_PAGE);
		EXPECT(maps[i]);
		EXPECT_EQ(check_write(maps[i]), 0);
	}
	for (i = 0; i < 300; i += 2)
		EXPECT_EQ(driver_unpin(one.driver, handles[(i * 7) % 300]), 0);
	EXPECT_EQ(gpu_stats(one.gpu).tables, 151);
}
