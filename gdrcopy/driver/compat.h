/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * All that depends on the kernel, on the processor, or on whether symbols that are exported for GPL modules
 * only may be used. They may with NVIDIA's open driver (GDRDRV_GPL_SYMBOLS). A module that uses the
 * proprietary one may not: the kernel refuses to load it. The build asks the kernel's headers for
 * features (Kbuild: GDRDRV_HAS_...), not its version: distributions take newer features into kernels that keep
 * an old number.
 */
#ifndef GDRDRV_COMPAT_H
#define GDRDRV_COMPAT_H

#include <linux/io.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/timex.h>

/*
 * For a VMA that is not linked yet. Where only functions may write to the flags (Linux 6.3, RHEL 9.5), the
 * others of them lock the VMA, which is GPL-only from 6.15 on.
 */
static inline void gdrdrv_init_vm_flags(struct vm_area_struct *vma, unsigned long flags)
{
#ifdef GDRDRV_HAS_VM_FLAGS_INIT
	vm_flags_init(vma, flags);
#else
	vma->vm_flags = flags;
#endif
}

/*
 * From Linux 6.12 on, one entry of a higher level (a PMD; 2 MiB on x86-64) may map a part of a device, by functions
 * that are GPL-only. Not one of the level above (a PUD, 1 GiB), though there is a function for it: the kernel neither moves
 * nor splits such an entry of a device. mremap() takes it for a damaged one and clears it without flushing the TLB, so
 * that processors still reach the memory after an unpin; and where madvise() has split the VMA, unmapping warns.
 */
#if defined(GDRDRV_GPL_SYMBOLS) && defined(CONFIG_ARCH_SUPPORTS_PMD_PFNMAP) && defined(GDRDRV_HAS_LARGE_FAULTS)
#define GDRDRV_LARGE_ENTRIES 1

#include <linux/huge_mm.h>
#include <linux/sched/mm.h>

#ifdef GDRDRV_HAS_PFN_T
#include <linux/pfn_t.h>
#define gdrdrv_large_pfn(pfn) __pfn_to_pfn_t(pfn, PFN_DEV)
#else
#define gdrdrv_large_pfn(pfn) (pfn)
#endif

static inline vm_fault_t gdrdrv_insert_pmd(struct vm_fault *vmf, unsigned long pfn)
{
	return vmf_insert_pfn_pmd(vmf, gdrdrv_large_pfn(pfn), vmf->flags & FAULT_FLAG_WRITE);
}

/* Whether a large entry maps the fault's range, which may have changed since the fault began. */
static inline bool gdrdrv_has_large_entry(const struct vm_fault *vmf)
{
	return pmd_leaf(READ_ONCE(*vmf->pmd));
}

static inline bool gdrdrv_has_page_table(const struct vm_fault *vmf)
{
	return !pmd_none(READ_ONCE(*vmf->pmd)) && !gdrdrv_has_large_entry(vmf);
}

static inline unsigned long gdrdrv_find_unmapped_area(struct file *filp, unsigned long at, unsigned long size,
						      unsigned long offset, unsigned long flags)
{
#ifdef GDRDRV_GET_UNMAPPED_AREA_TAKES_MM
	return mm_get_unmapped_area(current->mm, filp, at, size, offset, flags);
#else
	return mm_get_unmapped_area(filp, at, size, offset, flags);
#endif
}
#else
#define GDRDRV_LARGE_ENTRIES 0

static inline bool gdrdrv_has_large_entry(const struct vm_fault *vmf)
{
	return false;
}
#endif

#ifdef CONFIG_X86_64

#include <asm/tsc.h>
#ifdef GDRDRV_GPL_SYMBOLS
#define gdrdrv_decrypted pgprot_decrypted
#else
/* pgprot_decrypted reaches a GPL-only function from 5.18 on; this is AMD's part of it. */
#include <linux/mem_encrypt.h>
#define gdrdrv_decrypted(prot) __pgprot(__sme_clr(pgprot_val(prot)))
#endif

static inline pgprot_t gdrdrv_with_cache_mode(pgprot_t prot, enum page_cache_mode mode)
{
	return gdrdrv_decrypted(__pgprot((pgprot_val(prot) & ~_PAGE_CACHE_MASK) |
					 cachemode2protval(mode)));
}

/* pgprot_writecombine is GPL-only here. */
static inline pgprot_t gdrdrv_write_combining(pgprot_t prot)
{
	return gdrdrv_with_cache_mode(prot, _PAGE_CACHE_MODE_WC);
}

static inline pgprot_t gdrdrv_device(pgprot_t prot)
{
	return gdrdrv_with_cache_mode(prot, _PAGE_CACHE_MODE_UC_MINUS);
}

/*
 * The kernel gives single pages the type that their physical range is reserved with, whatever the
 * mapping asks for; without a reservation that is uncached.
 */
static inline int gdrdrv_reserve_write_combining(phys_addr_t start, size_t size)
{
	return arch_io_reserve_memtype_wc(start, size);
}

static inline void gdrdrv_free_memory_type(phys_addr_t start, size_t size)
{
	arch_io_free_memtype_wc(start, size);
}

#define GDRDRV_RESERVES_WRITE_COMBINING 1

#define gdrdrv_cycles() ((u64)get_cycles())
#define gdrdrv_khz() (cpu_khz)

static inline bool gdrdrv_may_be_coherent(void)
{
	return false;
}

static inline bool gdrdrv_is_ram(phys_addr_t address)
{
	return false;
}

#elif defined(CONFIG_ARM64) || defined(CONFIG_PPC64)

#define gdrdrv_write_combining pgprot_writecombine

static inline int gdrdrv_reserve_write_combining(phys_addr_t start, size_t size)
{
	return 0;
}

static inline void gdrdrv_free_memory_type(phys_addr_t start, size_t size)
{
}

#define GDRDRV_RESERVES_WRITE_COMBINING 0

#ifdef CONFIG_ARM64
#define gdrdrv_device pgprot_device
#define gdrdrv_cycles() 0ull
#define gdrdrv_khz() 0u

/* Grace; whether it is one is seen at each page. */
static inline bool gdrdrv_may_be_coherent(void)
{
	return true;
}
#else
#include <asm/reg.h>
#include <asm/time.h>
#define gdrdrv_device pgprot_noncached
#define gdrdrv_cycles() ((u64)get_cycles())
#define gdrdrv_khz() ((u32)(tb_ticks_per_sec / 1000))

static inline bool gdrdrv_may_be_coherent(void)
{
	return pvr_version_is(PVR_POWER9);
}
#endif

/*
 * Memory of a GPU with a coherent link is a part of the memory map; that of a BAR is not, or only as a
 * device's. (page_is_ram is GPL-only.)
 */
static inline bool gdrdrv_is_ram(phys_addr_t address)
{
	unsigned long number = address >> PAGE_SHIFT;

	return pfn_valid(number) && !is_zone_device_page(pfn_to_page(number));
}

#else
#error "gdrdrv runs on x86-64, arm64 and ppc64le"
#endif

#endif /* GDRDRV_COMPAT_H */
