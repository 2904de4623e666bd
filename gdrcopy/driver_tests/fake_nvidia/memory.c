// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The fake GPU's allocator: pages of 64 KiB in the BAR, addresses that are never used again. */
#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/slab.h>

#include "fakegpu_memory.h"

DEFINE_MUTEX(fakegpu_lock);
phys_addr_t fakegpu_bar;
struct fakegpu_stats fakegpu_stats;

static LIST_HEAD(memories);
static DECLARE_BITMAP(in_use, FAKEGPU_MOST_PAGES);
static unsigned int page_count;
static u64 next_address = 0x7f0000000000ull;

void fakegpu_set_memory(phys_addr_t bar, size_t size)
{
	fakegpu_bar = bar;
	fakegpu_stats.bar = bar;
	fakegpu_stats.bar_size = size;
	page_count = min_t(size_t, size >> FAKEGPU_PAGE_SHIFT, FAKEGPU_MOST_PAGES);
}

struct fakegpu_memory *fakegpu_find(u64 address, u64 size)
{
	struct fakegpu_memory *memory;

	list_for_each_entry(memory, &memories, node)
		if (!memory->freed && address >= memory->address &&
		    address + size <= memory->address + memory->size)
			return memory;
	return NULL;
}

static bool has_hole_after(const struct fakegpu_memory *memory, unsigned int page, unsigned int count)
{
	unsigned int run = memory->flags >> 8;

	return (run && page % run == run - 1) || (memory->flags & FAKEGPU_FIRST_APART && page == 0) ||
	       (memory->flags & FAKEGPU_LAST_APART && page + 2 == count);
}

static bool take_pages(struct fakegpu_memory *memory, unsigned int count)
{
	unsigned int i, page, holes = 0;

	if (memory->flags & FAKEGPU_SCATTERED) {
		/* Downwards, so that none stands right before the next. */
		for (i = 0, page = page_count; i < count; i++) {
			do {
				if (!page)
					return false;
			} while (test_bit(--page, in_use));
			memory->pages[i] = page;
		}
	} else {
		for (i = 0; i < count; i++)
			holes += has_hole_after(memory, i, count);
		holes += !!(memory->flags & FAKEGPU_SHIFTED);
		page = bitmap_find_next_zero_area(in_use, page_count, 0, count + holes, 0);
		if (page >= page_count)
			return false;
		for (i = 0; i < count; i++) {
			memory->pages[i] = page++;
			page += has_hole_after(memory, i, count);
		}
	}
	for (i = 0; i < count; i++)
		set_bit(memory->pages[i], in_use);
	return true;
}

int fakegpu_allocate(const void *owner, struct fakegpu_alloc *asked)
{
	unsigned int count = asked->size >> FAKEGPU_PAGE_SHIFT;
	struct fakegpu_memory *memory;

	if (!count || asked->size % FAKEGPU_PAGE || count > page_count)
		return -EINVAL;
	memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	if (!memory)
		return -ENOMEM;
	memory->pages = kcalloc(count, sizeof(*memory->pages), GFP_KERNEL);
	memory->flags = asked->flags;
	if (!memory->pages || !take_pages(memory, count)) {
		kfree(memory->pages);
		kfree(memory);
		return -ENOMEM;
	}
	memory->owner = owner;
	memory->size = asked->size;
	memory->address = next_address;
	next_address += asked->size + FAKEGPU_PAGE;
	list_add(&memory->node, &memories);
	fakegpu_stats.allocations++;
	asked->address = memory->address;
	return 0;
}

static void destroy(struct fakegpu_memory *memory)
{
	unsigned int i;

	for (i = 0; i < memory->size >> FAKEGPU_PAGE_SHIFT; i++)
		clear_bit(memory->pages[i], in_use);
	list_del(&memory->node);
	fakegpu_stats.allocations--;
	kfree(memory->pages);
	kfree(memory);
}

void fakegpu_release_memory(struct fakegpu_memory *memory)
{
	if (!--memory->tables && memory->freed)
		destroy(memory);
}

static void free_memory(struct fakegpu_memory *memory, u64 delay_us)
{
	memory->tables++; /* so that it stays until here */
	memory->freed = true;
	fakegpu_run_callbacks(memory, delay_us);
	fakegpu_release_memory(memory);
}

int fakegpu_free(const void *owner, u64 address, u64 delay_us)
{
	struct fakegpu_memory *memory = fakegpu_find(address, 1);

	if (!memory || memory->owner != owner || memory->address != address)
		return -EINVAL;
	free_memory(memory, delay_us);
	return 0;
}

void fakegpu_free_all(const void *owner)
{
	struct fakegpu_memory *memory;

again:
	list_for_each_entry(memory, &memories, node)
		if (memory->owner == owner && !memory->freed) {
			free_memory(memory, 0);
			goto again;
		}
}

u64 fakegpu_offset(const struct fakegpu_memory *memory, u64 address)
{
	u64 inside = address - memory->address;

	return ((u64)memory->pages[inside >> FAKEGPU_PAGE_SHIFT] << FAKEGPU_PAGE_SHIFT) +
	       (inside & (FAKEGPU_PAGE - 1)) + (memory->flags & FAKEGPU_SHIFTED ? 4096 : 0);
}
