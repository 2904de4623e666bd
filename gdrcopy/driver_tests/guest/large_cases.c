// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Entries of 2 MiB, where the kernel and the driver's build have them, and what splits them. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

#define MIB (1ul << 20)
#define LARGE (2 * MIB)
#define GIB (1024 * MIB)

static bool has_large_entries(void)
{
	return getenv("large_entries") != NULL; /* the harness knows what it has built */
}

/* Whether that many bytes of the pin are contiguous from there on, and start at a multiple of that. */
static bool fits(const struct pinned *one, size_t offset, size_t size)
{
	uint64_t start = gpu_where(one->gpu, one->address + offset).physical;
	size_t done;

	if (start % size || offset + size > one->size)
		return false;
	for (done = 0; done < size; done += GPU_PAGE)
		if (gpu_where(one->gpu, one->address + offset + done).physical != start + done)
			return false;
	return true;
}

/* Each 2 MiB that one entry can map have one, wherever the mapping begins in the pin. */
static int expect_entries(const struct pinned *one, const char *at, size_t begin, size_t size)
{
	int count = 0;
	size_t offset;

	for (offset = 0; offset < size; offset += GPU_PAGE) {
		size_t inside = (uintptr_t)(at + offset) % LARGE;
		bool large = has_large_entries() && inside <= offset && offset - inside + LARGE <= size &&
			     inside <= begin + offset && fits(one, begin + offset - inside, LARGE);
		struct fakegpu_look look;

		EXPECT_EQ(check_write((char *)at + offset), 0);
		look = gpu_look(one->gpu, at + offset);
		EXPECT_EQ(look.present, 1);
		EXPECT_EQ(look.physical, gpu_where(one->gpu, one->address + begin + offset).physical);
		EXPECT_EQ(look.memory_type, FAKEGPU_WRITE_COMBINING);
		EXPECT_EQ(look.size, large ? LARGE : (size_t)getpagesize());
		count += large && !inside;
	}
	return count;
}

static void end(struct pinned *one)
{
	char *at = (char *)one->words;

	EXPECT_EQ(driver_unpin(one->driver, one->handle), 0);
	EXPECT_EQ(check_read(at), SIGBUS);
	EXPECT_EQ(check_write(at + one->size - 1), SIGBUS);
	EXPECT_EQ(munmap(at, one->size), 0);
	close(one->driver);
	close(one->gpu);
}

CASE(large_entries, EITHER)
{
	struct pinned one = mapped(6 * MIB, 0);

	EXPECT_EQ(expect_entries(&one, (char *)one.words, 0, one.size), has_large_entries() ? 3 : 0);
	end(&one);
}

/* What is too small for a large entry is not moved to where one would fit: mappings are adjacent. */
CASE(small_mappings_take_little_address_space, EITHER)
{
	uintptr_t highest = 0, lowest = UINTPTR_MAX, at;
	int i;

	for (i = 0; i < 4; i++) {
		at = (uintptr_t)mapped(GPU_PAGE, 0).words;
		highest = at > highest ? at : highest;
		lowest = at < lowest ? at : lowest;
	}
	EXPECT(highest - lowest < GIB);
}

/* Memory that starts somewhere is mapped where most of it has large entries. */
CASE(large_entries_between_small_ones, EITHER)
{
	struct pinned before = pinned(5 * GPU_PAGE, 0), one = mapped(6 * MIB, 0);

	EXPECT_EQ(expect_entries(&one, (char *)one.words, 0, one.size), has_large_entries() ? 2 : 0);
	end(&one);
	EXPECT_EQ(driver_unpin(before.driver, before.handle), 0);
}

CASE(large_entries_and_holes, EITHER)
{
	struct pinned one = mapped(6 * MIB, FAKEGPU_RUNS(40)), two = mapped(4 * MIB, FAKEGPU_LAST_APART);

	EXPECT_EQ(expect_entries(&one, (char *)one.words, 0, one.size), has_large_entries() ? 1 : 0);
	(void)expect_entries(&two, (char *)two.words, 0, two.size);
	end(&two);
	end(&one);
}

/*
 * Where the pages do not start at multiples of their size, one is beside a large entry and partly in it. No fault of it
 * meets that entry.
 */
CASE(large_entries_that_end_inside_a_page, EITHER)
{
	struct pinned one = mapped(3 * LARGE, FAKEGPU_SHIFTED);
	char *at = (char *)one.words, *large = at + LARGE - (uintptr_t)at % LARGE;

	EXPECT_EQ(check_write(large), 0);
	EXPECT_EQ(gpu_look(one.gpu, large).size, has_large_entries() ? LARGE : (size_t)getpagesize());
	expect_entries(&one, at, 0, one.size);
	end(&one);
}

CASE(large_entries_of_a_mapping_at_a_chosen_place, EITHER)
{
	struct pinned one = mapped_behind_a_table(4 * MIB, 0, GPU_PAGE);

	EXPECT_EQ(expect_entries(&one, (char *)one.words, 0, one.size), 0);
	end(&one);
}

/* Whatever cuts a large entry takes it away; faults bring the rest back in smaller ones. */
CASE(large_entries_are_split, EITHER)
{
	struct pinned one = mapped(6 * MIB, 0);
	char *at = (char *)one.words, *moved, *place;

	expect_entries(&one, at, 0, one.size);
	EXPECT_EQ(munmap(at + LARGE + GPU_PAGE, GPU_PAGE), 0);
	expect_entries(&one, at, 0, LARGE + GPU_PAGE);
	expect_entries(&one, at + LARGE + 2 * GPU_PAGE, LARGE + 2 * GPU_PAGE, 2 * LARGE - 2 * GPU_PAGE);
	EXPECT_EQ(mprotect(at, GPU_PAGE, PROT_READ), 0);
	EXPECT_EQ(check_write(at), SIGSEGV);
	EXPECT_EQ(check_read(at), 0);
	EXPECT_EQ(check_write(at + GPU_PAGE), 0);
	EXPECT_EQ(mprotect(at, GPU_PAGE, PROT_READ | PROT_WRITE), 0);
	EXPECT_EQ(check_write(at), 0);

	place = mmap(NULL, 2 * LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	place += LARGE - (uintptr_t)place % LARGE;
	moved = mremap(at + 2 * LARGE, LARGE, LARGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	EXPECT(moved == place);
	expect_entries(&one, moved, 2 * LARGE, LARGE);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	EXPECT_EQ(check_read(moved), SIGBUS);
	EXPECT_EQ(check_read(at + LARGE), SIGBUS);
	EXPECT_EQ(check_read(at + GPU_PAGE), SIGBUS);
}

CASE(large_entries_for_reading, EITHER)
{
	struct pinned one = pinned(2 * LARGE, 0);
	char *at = mmap(NULL, one.size, PROT_READ, MAP_SHARED, one.driver,
			(off_t)(one.handle * (uint64_t)getpagesize()));

	EXPECT(at != MAP_FAILED);
	EXPECT_EQ(check_read(at), 0);
	EXPECT_EQ(check_write(at), SIGSEGV);
	EXPECT_EQ(gpu_look(one.gpu, at).size, has_large_entries() ? LARGE : (size_t)getpagesize());
	EXPECT_EQ(mprotect(at, one.size, PROT_READ | PROT_WRITE), 0);
	expect_entries(&one, at, 0, one.size);
}

static void expect_small_entry(const struct pinned *one, char *at)
{
	EXPECT_EQ(check_write(at), 0);
	EXPECT_EQ(gpu_look(one->gpu, at).size, getpagesize());
	EXPECT_EQ(gpu_look(one->gpu, at).physical, gpu_where(one->gpu, one->address + (at - (char *)one->words)).physical);
}

/* Unlike the setting for the system, which is off here, what a program says of itself holds for these, too. */
CASE(large_entries_that_a_program_excludes, EITHER)
{
	struct pinned one = mapped(3 * LARGE, 0), two;
	char *at = (char *)one.words;

	if (!has_large_entries())
		return;
	EXPECT_EQ(madvise(at, one.size, MADV_NOHUGEPAGE), 0);
	expect_small_entry(&one, at + LARGE);
	EXPECT_EQ(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
	two = mapped(3 * LARGE, 0);
	expect_small_entry(&two, (char *)two.words + LARGE);
	EXPECT_EQ(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), 0);
	/* The small entries stay, and so do those around them; the next 2 MiB are free for a large one. */
	expect_small_entry(&two, (char *)two.words + LARGE);
	EXPECT_EQ(check_write((char *)two.words + 2 * LARGE), 0);
	EXPECT_EQ(gpu_look(two.gpu, (char *)two.words + 2 * LARGE).size, LARGE);
	end(&two);
	end(&one);
}

/*
 * A GiB at an address where an entry of a GiB would fit, too; not mapped where the harness gives the GPU less. No kernel
 * can move or split such entries of a device, so the driver must not make any.
 */
static struct pinned gibibyte(void)
{
	struct pinned one = { .gpu = gpu_open(), .driver = -1 };
	uint64_t start;
	char *place;

	if (gpu_stats(one.gpu).bar_size < 2 * GIB)
		return one;
	close(one.gpu);
	one = pinned(GIB, 0);
	start = gpu_where(one.gpu, one.address).physical;
	place = mmap(NULL, 2 * GIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	EXPECT(place != MAP_FAILED);
	place += (start - (uintptr_t)place) % GIB;
	one.words = mmap(place, GIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, one.driver,
			 (off_t)(one.handle * (uint64_t)getpagesize()));
	EXPECT(one.words == (void *)place);
	return one;
}

/* A byte of it at this address is mapped by the largest entry that there is, and is that of the GPU's. */
static void expect_part(const struct pinned *one, char *at, size_t offset)
{
	EXPECT_EQ(check_write(at), 0);
	EXPECT_EQ(gpu_look(one->gpu, at).size, has_large_entries() ? LARGE : (size_t)getpagesize());
	EXPECT_EQ(gpu_look(one->gpu, at).physical, gpu_where(one->gpu, one->address + offset).physical);
}

CASE(a_gibibyte, EITHER)
{
	struct pinned one = gibibyte();
	char *at = (char *)one.words;

	if (!at)
		return;
	expect_part(&one, at, 0);
	expect_part(&one, at + 512 * MIB, 512 * MIB);
	expect_part(&one, at + GIB - LARGE, GIB - LARGE);
	EXPECT_EQ(munmap(at + LARGE, LARGE), 0);
	expect_part(&one, at, 0);
	expect_part(&one, at + 2 * LARGE, 2 * LARGE);
	end(&one);
}

/* Moves it, and ends it there; an access at the new place flushes what the TLB might still have of the old one. */
static void move_gibibyte(bool access)
{
	struct pinned one = gibibyte();
	char *at = (char *)one.words, *place;

	if (!at)
		return;
	expect_part(&one, at, 0);
	expect_part(&one, at + 512 * MIB, 512 * MIB);
	place = mmap(NULL, 2 * GIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	EXPECT(place != MAP_FAILED);
	place += (uintptr_t)(at - place) % GIB;
	EXPECT(mremap(at, GIB, GIB, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
	if (access) {
		EXPECT_EQ(check_read(at), SIGSEGV);
		expect_part(&one, place, 0);
		expect_part(&one, place + 512 * MIB, 512 * MIB);
	}
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	EXPECT_EQ(check_read(at), SIGSEGV);
	EXPECT_EQ(check_write(at + 512 * MIB), SIGSEGV);
	EXPECT_EQ(check_read(place), SIGBUS);
	EXPECT_EQ(check_write(place + GIB - 1), SIGBUS);
}

CASE(a_gibibyte_that_is_moved, EITHER)
{
	move_gibibyte(false);
}

CASE(a_gibibyte_that_is_moved_and_used, EITHER)
{
	move_gibibyte(true);
}

/* Advice for a half splits the mapping. */
CASE(a_gibibyte_of_two_kinds, EITHER)
{
	struct pinned one = gibibyte();
	char *at = (char *)one.words;

	if (!at)
		return;
	expect_part(&one, at, 0);
	EXPECT_EQ(madvise(at, GIB / 2, MADV_RANDOM), 0);
	expect_part(&one, at, 0);
	expect_part(&one, at + GIB / 2, GIB / 2);
	end(&one);
}
