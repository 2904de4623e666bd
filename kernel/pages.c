// SPDX-License-Identifier: MIT OR GPL-2.0
/* All calls of nvidia.ko: getting pages, putting them, and reading its tables. */
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>

#include "compat.h"
#include "gdrdrv.h"
#include "nv-p2p.h"

static bool use_persistent_mapping = true;
module_param(use_persistent_mapping, bool, 0444);
MODULE_PARM_DESC(use_persistent_mapping,
		 "pins keep their memory past cuMemFree (default); 0: it is taken away, with an event");

static bool device_mappings;
module_param(device_mappings, bool, 0444);
MODULE_PARM_DESC(device_mappings,
		 "map uncached and in order, for Arm systems that cannot combine writes to PCIe");

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

/* nvidia.ko uses a code that user space has no name for. */
static int for_programs(int result)
{
	return result == -ENOTSUPP ? -EOPNOTSUPP : result;
}

/* In callback mode, gdrdrv_taken_away may be called from now on, before this returns, too. */
int gdrdrv_get_pages(struct gdrdrv_pin *pin, struct nvidia_p2p_page_table **table)
{
	u64 begin = gdrdrv_cycles();
	int result;

#ifdef NVIDIA_P2P_CAP_GET_PAGES_PERSISTENT_API
	if (gdrdrv_persistent()) {
		u32 flags = pin->force_pcie ? NVIDIA_P2P_FLAGS_FORCE_BAR1_MAPPING : 0;

		result = nvidia_p2p_get_pages_persistent(pin->va, pin->size, table, flags);
	} else
#endif
		result = nvidia_p2p_get_pages(pin->p2p_token, pin->va_space, pin->va, pin->size, table,
					      gdrdrv_persistent() ? NULL : gdrdrv_taken_away,
					      (void *)pin->callback);
	pin->cycles = gdrdrv_cycles() - begin;
	if (result > 0)
		result = -EIO;
	if (result) {
		pr_debug("nvidia.ko gives no pages for 0x%llx, %llu bytes: %d\n", pin->va, pin->size,
			 result);
		return for_programs(result);
	}
	gdrdrv_count(pages_held, 1);
	return 0;
}

/*
 * False if the callback may still come: nvidia.ko looks only among the tables of the process that calls it,
 * unless it gets a token. Otherwise it has run or will never run when this returns.
 */
bool gdrdrv_put_pages(struct gdrdrv_pin *pin, struct nvidia_p2p_page_table *table)
{
	int result;

#ifdef NVIDIA_P2P_CAP_GET_PAGES_PERSISTENT_API
	if (gdrdrv_persistent())
		result = nvidia_p2p_put_pages_persistent(pin->va, table, 0);
	else
#endif
		result = nvidia_p2p_put_pages(pin->p2p_token, pin->va_space, pin->va, table);
	if (result)
		pr_err_ratelimited("nvidia.ko does not take back the pages of 0x%llx: %d\n", pin->va,
				   result);
	if (!gdrdrv_persistent() &&
	    (result || (!pin->p2p_token && !gdrdrv_is_in_this_process(&pin->file->owner))))
		return false;
	gdrdrv_count(pages_held, -1);
	return true;
}

/* Whether the table can be mapped; also determines whether its pages are contiguous. */
int gdrdrv_check_table(struct gdrdrv_pin *pin, const struct nvidia_p2p_page_table *table)
{
	u32 layout = table->version >> 16, entries = pin->size >> GPU_PAGE_SHIFT, i;
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
	pin->in_a_row = true;
	next = gdrdrv_page_address(table, 0);
	for (i = 0; i < entries; i++, next += GPU_PAGE_SIZE) {
		phys_addr_t address = table->pages[i]->physical_address;

		if (!PAGE_ALIGNED(address)) {
			pr_err_ratelimited("nvidia.ko's page %u does not start at a page of the CPU\n",
					   i);
			return -EPROTO;
		}
		if (address != next)
			pin->in_a_row = false;
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

/* BlueField-3 as a host: its PCIe root takes no combined writes. */
static bool is_bluefield_3(void)
{
	static const u16 roots[] = { 0xa2da, 0xa2db };
	unsigned int i;

	if (!IS_ENABLED(CONFIG_ARM64))
		return false;
	for (i = 0; i < ARRAY_SIZE(roots); i++) {
		struct pci_dev *root = pci_get_device(PCI_VENDOR_ID_MELLANOX, roots[i], NULL);

		if (root) {
			pci_dev_put(root);
			return true;
		}
	}
	return false;
}

bool gdrdrv_needs_device_mappings(void)
{
	return device_mappings;
}

void gdrdrv_look_at_platform(void)
{
	device_mappings = device_mappings || is_bluefield_3();
}
