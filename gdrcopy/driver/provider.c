// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The abilities of nvidia.ko, and reading its page tables. */
#include <linux/errno.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>

#include "compat.h"
#include "gdrdrv.h"
#include "nv-p2p.h"

static int use_persistent_mapping = 1; /* any number, as in gdrcopy's driver */
module_param(use_persistent_mapping, int, 0444);
MODULE_PARM_DESC(use_persistent_mapping,
		 "pins keep their memory past cuMemFree (default); 0: cuMemFree revokes it, with an event");

#if defined(NVIDIA_P2P_CAP_GET_PAGES_PERSISTENT_API)
#define CAN_PERSIST true
#elif defined(NVIDIA_P2P_CAP_PERSISTENT_PAGES)
/* Drivers before 530: pages are persistent if no callback is passed. */
#define CAN_PERSIST (nvidia_p2p_cap_persistent_pages != 0)
#else
#define CAN_PERSIST false
#endif

bool gdrdrv_persistent(void)
{
	return use_persistent_mapping && CAN_PERSIST;
}

bool gdrdrv_offers_force_pcie(void)
{
#ifdef NVIDIA_P2P_FLAGS_FORCE_BAR1_MAPPING
	return gdrdrv_persistent();
#else
	return false;
#endif
}

/* Whether that many pages of the table can be mapped; also determines whether they are contiguous. */
int gdrdrv_check_table(const struct nvidia_p2p_page_table *table, u32 entries, bool *contiguous)
{
	u32 layout = table->version >> 16, i;
	phys_addr_t next;

	if (layout != 1 && layout != 2) {
		pr_err_ratelimited("nvidia.ko's page table is of version 0x%x; 1.x and 2.x are known\n",
				   table->version);
		return -EPROTO;
	}
	if (table->page_size != NVIDIA_P2P_PAGE_SIZE_64KB) {
		pr_err_ratelimited("nvidia.ko's pages are not of 64 KiB (type %u)\n",
				   table->page_size);
		return -EPROTO;
	}
	if (table->entries < entries) {
		pr_err_ratelimited("nvidia.ko gives %u pages of %u\n", table->entries, entries);
		return -EPROTO;
	}
	*contiguous = true;
	next = gdrdrv_page_address(table, 0);
	for (i = 0; i < entries; i++, next += GPU_PAGE_SIZE) {
		phys_addr_t address = table->pages[i]->physical_address;

		if (!PAGE_ALIGNED(address)) {
			pr_err_ratelimited("nvidia.ko's page %u does not start at a page of the CPU\n",
					   i);
			return -EPROTO;
		}
		if (address != next)
			*contiguous = false;
		cond_resched();
	}
	return 0;
}

phys_addr_t gdrdrv_page_address(const struct nvidia_p2p_page_table *table, unsigned long index)
{
	return table->pages[index]->physical_address;
}

/* All pages of a table are of one kind, so it is that of the first one. */
bool gdrdrv_table_is_cacheable(const struct nvidia_p2p_page_table *table)
{
	if (!gdrdrv_may_be_coherent())
		return false;
#ifdef NVIDIA_P2P_PAGE_TABLE_FLAGS_CPU_CACHEABLE
	/* Tables before 1.3 end before their flags. */
	if ((table->version >> 16 >= 2 || (table->version & 0xffff) >= 3) &&
	    table->flags & NVIDIA_P2P_PAGE_TABLE_FLAGS_CPU_CACHEABLE)
		return true;
#endif
	return gdrdrv_is_ram(gdrdrv_page_address(table, 0));
}
