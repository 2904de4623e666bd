// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* How the processor really maps an address of the caller's. */
#include <linux/mm.h>
#include <linux/version.h>

#include "fakegpu_memory.h"

static enum fakegpu_memory_type type_of(pgprot_t prot)
{
#if defined(CONFIG_X86_64)
	unsigned long mode = pgprot_val(prot) & _PAGE_CACHE_MASK;

	if (mode == cachemode2protval(_PAGE_CACHE_MODE_WC))
		return FAKEGPU_WRITE_COMBINING;
	if (mode == cachemode2protval(_PAGE_CACHE_MODE_WB))
		return FAKEGPU_WRITE_BACK;
	return FAKEGPU_UNCACHED;
#elif defined(CONFIG_ARM64)
	switch ((pgprot_val(prot) & PTE_ATTRINDX_MASK) >> 2) {
	case MT_NORMAL_NC:
		return FAKEGPU_WRITE_COMBINING;
	case MT_NORMAL:
		return FAKEGPU_WRITE_BACK;
	default:
		return FAKEGPU_UNCACHED;
	}
#else
	switch (pgprot_val(prot) & _PAGE_CACHE_CTL) {
	case _PAGE_TOLERANT: /* which is what write-combining is there */
		return FAKEGPU_WRITE_COMBINING;
	case 0:
		return FAKEGPU_WRITE_BACK;
	default:
		return FAKEGPU_UNCACHED;
	}
#endif
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)

static u64 size_of_entry(struct mm_struct *mm, unsigned long at)
{
#ifdef CONFIG_ARCH_SUPPORTS_PMD_PFNMAP
	pud_t *pud = pud_offset(p4d_offset(pgd_offset(mm, at), at), at);

	if (pud_leaf(*pud))
		return PUD_SIZE;
	if (pmd_leaf(*pmd_offset(pud, at)))
		return PMD_SIZE;
#endif
	return PAGE_SIZE;
}

static void look(struct vm_area_struct *vma, struct fakegpu_look *look)
{
	struct follow_pfnmap_args args = { .vma = vma, .address = look->user_address };

	if (follow_pfnmap_start(&args))
		return;
	look->present = 1;
	look->physical = (u64)args.pfn << PAGE_SHIFT;
	look->size = size_of_entry(vma->vm_mm, look->user_address);
#ifdef CONFIG_X86_64
	/* Large entries have a bit of the type elsewhere, and the one that makes them large in its place. */
	if (look->size > PAGE_SIZE)
		args.pgprot = pgprot_large_2_4k(args.pgprot);
#endif
	look->memory_type = type_of(args.pgprot);
	follow_pfnmap_end(&args);
}

#else

static void look(struct vm_area_struct *vma, struct fakegpu_look *look)
{
	spinlock_t *lock;
	pte_t *entry;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
	if (follow_pte(vma, look->user_address, &entry, &lock))
		return;
#else
	if (follow_pte(vma->vm_mm, look->user_address, &entry, &lock))
		return;
#endif
	look->present = 1;
	look->physical = (u64)pte_pfn(*entry) << PAGE_SHIFT;
	look->memory_type = type_of(pte_pgprot(*entry));
	look->size = PAGE_SIZE;
	pte_unmap_unlock(entry, lock);
}

#endif

int fakegpu_look(struct fakegpu_look *at)
{
	struct vm_area_struct *vma;

	at->present = 0;
	at->physical = 0;
	at->memory_type = FAKEGPU_UNKNOWN;
	mmap_read_lock(current->mm);
	vma = find_vma(current->mm, at->user_address);
	if (vma && vma->vm_start <= at->user_address && vma->vm_flags & VM_PFNMAP)
		look(vma, at);
	mmap_read_unlock(current->mm);
	return 0;
}
