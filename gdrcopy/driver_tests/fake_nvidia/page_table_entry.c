// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Puts an entry that is not gdrdrv's into the page table of the caller's, as userfaultfd puts markers there. */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/swap.h>
#include <linux/swapops.h>

#include "fakegpu_memory.h"

#ifdef CONFIG_X86_64

/* Neither empty nor present. Nothing but the fault of a neighbour may meet it: there is no such swap file. */
static pte_t foreign_entry(void)
{
	return swp_entry_to_pte(swp_entry(1, 0x5a5a));
}

/* Under the page table's lock. */
static int change_entry(pte_t *entry, unsigned long at, void *data)
{
	const struct fakegpu_plant *how = data;

	if (!how->remove) {
		if (!pte_none(*entry))
			return -EBUSY;
		set_pte_at(current->mm, at, entry, foreign_entry());
		return 0;
	}
	if (!pte_same(*entry, foreign_entry()))
		return -ENOENT;
	pte_clear(current->mm, at, entry);
	return 0;
}

int fakegpu_plant(struct fakegpu_plant *how)
{
	struct vm_area_struct *vma;
	int result = -EFAULT;

	mmap_write_lock(current->mm);
	vma = find_vma(current->mm, how->user_address);
	if (vma && vma->vm_start <= how->user_address && vma->vm_flags & VM_PFNMAP)
		result = apply_to_page_range(current->mm, how->user_address & PAGE_MASK, PAGE_SIZE, change_entry, how);
	mmap_write_unlock(current->mm);
	return result;
}

#else

int fakegpu_plant(struct fakegpu_plant *how)
{
	return -EOPNOTSUPP;
}

#endif
