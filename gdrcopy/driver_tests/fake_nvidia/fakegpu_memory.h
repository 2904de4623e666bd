/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The fake GPU's memory and who holds it. All under the lock. */
#ifndef FAKEGPU_MEMORY_H
#define FAKEGPU_MEMORY_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "fakegpu.h"

#define FAKEGPU_PAGE_SHIFT 16
#define FAKEGPU_PAGE (1ul << FAKEGPU_PAGE_SHIFT)
#define FAKEGPU_MOST_PAGES 65536

struct fakegpu_memory {
	struct list_head node;
	const void *owner; /* whose closing frees it */
	u64 address, size;
	u32 flags;
	bool freed; /* by its owner; persistent tables may keep the pages */
	unsigned int tables;
	u32 *pages;
};

/* The resource manager's: also held while callbacks run. */
extern struct mutex fakegpu_lock;
extern phys_addr_t fakegpu_bar;
extern struct fakegpu_stats fakegpu_stats;

void fakegpu_set_memory(phys_addr_t bar, size_t size);
struct fakegpu_memory *fakegpu_find(u64 address, u64 size);
int fakegpu_allocate(const void *owner, struct fakegpu_alloc *asked);
int fakegpu_free(const void *owner, u64 address, u64 delay_us);
void fakegpu_free_all(const void *owner);
void fakegpu_release_memory(struct fakegpu_memory *memory); /* by one of its tables, which is freed */
u64 fakegpu_offset(const struct fakegpu_memory *memory, u64 address);
void fakegpu_run_callbacks(struct fakegpu_memory *memory, u64 delay_us); /* tables.c */
void fakegpu_go_wrong(const struct fakegpu_go_wrong *how);
void fakegpu_forget(void);
int fakegpu_look(struct fakegpu_look *look); /* look.c; not under the lock, as what follows */
int fakegpu_plant(struct fakegpu_plant *how); /* page_table_entry.c */
int fakegpu_fail_call(struct fakegpu_fail_call *how); /* fail_call.c */
int fakegpu_ordinary(const struct fakegpu_ordinary *how); /* ordinary.c */
int fakegpu_pause(struct fakegpu_pause *how); /* pause_call.c, as what follows */
int fakegpu_wait_paused(const struct fakegpu_pause *which);

#endif /* FAKEGPU_MEMORY_H */
