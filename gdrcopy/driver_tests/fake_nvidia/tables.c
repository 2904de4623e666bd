// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * nvidia_p2p_*: page tables as NVIDIA's nv-p2p.c gives them. A callback runs under the lock, and its table
 * is freed after it; a put waits for the lock, and a table that was freed by then is no error. Nor is one
 * that another process got: without a token, tables are looked for among those of the calling process.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "fakegpu_memory.h"
#include "nv-p2p.h"

struct table {
	struct list_head node;
	struct fakegpu_memory *memory;
	void (*callback)(void *data); /* NULL: persistent */
	void *data;
	pid_t process; /* that got it */
	u64 address;
	struct nvidia_p2p_page *page; /* all of them */
	struct nvidia_p2p_page_table given;
};

static LIST_HEAD(tables);
static struct fakegpu_go_wrong next_fault;

void fakegpu_go_wrong(const struct fakegpu_go_wrong *how)
{
	next_fault = *how;
}

static bool goes_wrong(enum fakegpu_fault fault)
{
	if (next_fault.fault != fault)
		return false;
	next_fault.fault = 0;
	return true;
}

static void free_table(struct table *table)
{
	kfree(table->given.pages);
	kfree(table->page);
	kfree(table);
}

static struct table *new_table(struct fakegpu_memory *memory, u64 address, u32 entries)
{
	struct table *table = kzalloc(sizeof(*table), GFP_KERNEL);
	u32 i;

	if (!table)
		return NULL;
	table->page = kcalloc(entries, sizeof(*table->page), GFP_KERNEL);
	table->given.pages = kcalloc(entries, sizeof(*table->given.pages), GFP_KERNEL);
	if (!table->page || !table->given.pages) {
		free_table(table);
		return NULL;
	}
	table->memory = memory;
	table->address = address;
	for (i = 0; i < entries; i++) {
		table->given.pages[i] = &table->page[i];
		table->page[i].physical_address =
			fakegpu_bar + fakegpu_offset(memory, address + i * FAKEGPU_PAGE);
	}
	table->given.version = NVIDIA_P2P_PAGE_TABLE_VERSION;
	table->given.page_size = NVIDIA_P2P_PAGE_SIZE_64KB;
	table->given.entries = entries;
	if (memory->flags & FAKEGPU_CACHEABLE)
		table->given.flags = NVIDIA_P2P_PAGE_TABLE_FLAGS_CPU_CACHEABLE;
	if (goes_wrong(FAKEGPU_VERSION))
		table->given.version = next_fault.value;
	if (goes_wrong(FAKEGPU_PAGE_SIZE))
		table->given.page_size = next_fault.value;
	if (goes_wrong(FAKEGPU_SHORT_TABLE))
		table->given.entries--;
	if (goes_wrong(FAKEGPU_MISALIGNED))
		table->page[next_fault.value].physical_address += 256;
	return table;
}

static void unlink_table(struct table *table)
{
	list_del(&table->node);
	fakegpu_stats.tables--;
}

static const struct nvidia_p2p_page_table *called_back; /* which table's callback is running */
static bool was_freed;

/* A callback must free its table. */
static void call_back(struct table *table)
{
	unlink_table(table);
	fakegpu_stats.callbacks++;
	called_back = &table->given;
	was_freed = false;
	table->callback(table->data);
	WARN(!was_freed, "the callback did not free its page table\n");
	called_back = NULL;
	free_table(table);
}

void fakegpu_run_callbacks(struct fakegpu_memory *memory, u64 delay_us)
{
	struct table *table, *next;

	list_for_each_entry_safe(table, next, &tables, node) {
		if (table->memory != memory || !table->callback)
			continue;
		if (delay_us)
			usleep_range(delay_us, delay_us + 1);
		call_back(table);
		fakegpu_release_memory(memory);
	}
}

void fakegpu_forget(void)
{
	struct table *table, *next;

	list_for_each_entry_safe(table, next, &tables, node) {
		unlink_table(table);
		fakegpu_release_memory(table->memory);
		free_table(table);
	}
}

static int get(u64 address, u64 length, struct nvidia_p2p_page_table **given,
	       void (*callback)(void *data), void *data)
{
	struct fakegpu_memory *memory = fakegpu_find(address, length);
	struct table *table;

	if (address % FAKEGPU_PAGE || length % FAKEGPU_PAGE || !length || !memory)
		return -EINVAL;
	if (goes_wrong(FAKEGPU_FAIL_GET))
		return next_fault.value;
	if (goes_wrong(FAKEGPU_SLOW_GET))
		msleep(next_fault.value);
	table = new_table(memory, address, length >> FAKEGPU_PAGE_SHIFT);
	if (!table)
		return -ENOMEM;
	table->callback = callback;
	table->data = data;
	table->process = task_tgid_nr(current);
	*given = &table->given;
	memory->tables++;
	list_add_tail(&table->node, &tables);
	fakegpu_stats.tables++;
	fakegpu_stats.persistent = !callback;
	if (callback && goes_wrong(FAKEGPU_FREE_WHILE_GETTING)) {
		fakegpu_free(memory->owner, memory->address, 0);
		return next_fault.value;
	}
	return 0;
}

static struct table *find_table(const struct nvidia_p2p_page_table *given)
{
	struct table *table;

	list_for_each_entry(table, &tables, node)
		if (&table->given == given)
			return table;
	return NULL;
}

static int put(u64 address, const struct nvidia_p2p_page_table *given)
{
	struct table *table = find_table(given);
	int result = goes_wrong(FAKEGPU_FAIL_PUT) ? (int)next_fault.value : 0;

	if (!table)
		return result;
	if (WARN_ON(table->address != address))
		return -EINVAL;
	if (table->callback && goes_wrong(FAKEGPU_FREE_WHILE_PUTTING)) {
		fakegpu_free(table->memory->owner, table->memory->address, 0);
		return next_fault.value;
	}
	if (result && table->callback)
		return result;
	unlink_table(table);
	fakegpu_release_memory(table->memory);
	free_table(table);
	return result;
}

int nvidia_p2p_get_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 uint64_t length, struct nvidia_p2p_page_table **page_table,
			 void (*free_callback)(void *data), void *data)
{
	int result;

	if (!free_callback)
		return -EINVAL;
	mutex_lock(&fakegpu_lock);
	fakegpu_stats.last_token = p2p_token;
	fakegpu_stats.last_va_space = va_space;
	result = get(virtual_address, length, page_table, free_callback, data);
	mutex_unlock(&fakegpu_lock);
	return result;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_get_pages);

int nvidia_p2p_put_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 struct nvidia_p2p_page_table *page_table)
{
	struct table *table;
	int result = 0;

	mutex_lock(&fakegpu_lock);
	table = find_table(page_table);
	if (p2p_token || !table || table->process == task_tgid_nr(current))
		result = put(virtual_address, page_table);
	mutex_unlock(&fakegpu_lock);
	return result;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_put_pages);

int nvidia_p2p_get_pages_persistent(uint64_t virtual_address, uint64_t length,
				    struct nvidia_p2p_page_table **page_table, uint32_t flags)
{
	int result;

	mutex_lock(&fakegpu_lock);
	fakegpu_stats.last_flags = flags;
	result = get(virtual_address, length, page_table, NULL, NULL);
	mutex_unlock(&fakegpu_lock);
	return result;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_get_pages_persistent);

int nvidia_p2p_put_pages_persistent(uint64_t virtual_address,
				    struct nvidia_p2p_page_table *page_table, uint32_t flags)
{
	int result;

	if (flags)
		return -EINVAL;
	mutex_lock(&fakegpu_lock);
	result = WARN_ON(!find_table(page_table)) ? -EINVAL : put(virtual_address, page_table);
	mutex_unlock(&fakegpu_lock);
	return result;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_put_pages_persistent);

/* Under the lock, which the callback comes under. */
int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *page_table)
{
	if (WARN(page_table != called_back || was_freed, "a page table is freed at a wrong time\n"))
		return -EINVAL;
	was_freed = true;
	return 0;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_free_page_table);
