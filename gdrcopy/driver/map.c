// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Mapping pins into the process, and unmapping them. Faults alone insert pages, under the pin's lock and while it is
 * active. A function that ends that state under the lock, and then unmaps the mapped pages, has unmapped all: mmap
 * inserts nothing before the kernel has linked the VMA, so that unmap_mapping_range() finds it.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/userfaultfd_k.h>

#include "compat.h"
#include "gdrdrv.h"
#include "nv-p2p.h"

bool gdrdrv_device_mappings;

static phys_addr_t gdrdrv_physical(const struct gdrdrv_pin *pin, u64 offset)
{
	return gdrdrv_page_address(pin->table, offset >> GPU_PAGE_SHIFT) + (offset & (GPU_PAGE_SIZE - 1));
}

/* How many bytes are contiguous from this offset on, at most that many. */
static size_t gdrdrv_contiguous_bytes(const struct gdrdrv_pin *pin, u64 offset, size_t most)
{
	phys_addr_t start = gdrdrv_physical(pin, offset);
	size_t size = GPU_PAGE_SIZE - (offset & (GPU_PAGE_SIZE - 1));

	if (pin->contiguous)
		return most;
	while (size < most && gdrdrv_physical(pin, offset + size) == start + size) {
		size += GPU_PAGE_SIZE;
		cond_resched();
	}
	return min(size, most);
}

static void gdrdrv_free_reservation(struct gdrdrv_pin *pin)
{
	u64 done = 0;

	while (done < pin->reserved) {
		size_t size = gdrdrv_contiguous_bytes(pin, done, pin->reserved - done);

		gdrdrv_free_memory_type(gdrdrv_physical(pin, done), size);
		done += size;
		cond_resched();
	}
	pin->reserved = 0;
}

/* For all of the pin, since a VMA may be unmapped and another one mapped. */
static int gdrdrv_reserve_all(struct gdrdrv_pin *pin)
{
	while (GDRDRV_RESERVES_WRITE_COMBINING && pin->reserved < pin->size) {
		size_t size = gdrdrv_contiguous_bytes(pin, pin->reserved, pin->size - pin->reserved);
		int result = gdrdrv_reserve_write_combining(gdrdrv_physical(pin, pin->reserved), size);

		if (result) {
			gdrdrv_free_reservation(pin);
			pr_notice_ratelimited("the memory type of 0x%llx cannot be reserved: %d\n",
					      pin->va, result);
			return result;
		}
		pin->reserved += size;
		cond_resched();
	}
	return 0;
}

/* Of an active pin, under its lock, for writing; the caller changes the state under the same lock. */
void gdrdrv_unmap(struct gdrdrv_pin *pin)
{
	/* By offset, which finds every VMA, also those that were split off or moved. */
	if (atomic_read(&pin->vmas))
		unmap_mapping_range(&pin->file->mapping, (loff_t)pin->handle << PAGE_SHIFT, pin->size,
				    0);
	gdrdrv_free_reservation(pin);
}

static bool gdrdrv_may_be_cached(const struct gdrdrv_pin *pin)
{
	return !pin->force_pcie && gdrdrv_table_is_cacheable(pin->table);
}

int gdrdrv_request_mapping(struct gdrdrv_pin *pin, u32 mapping)
{
	int result = 0;

	down_write(&pin->lock);
	if (atomic_read(&pin->vmas))
		result = -EBUSY;
	else if (pin->state != GDRDRV_PIN_ACTIVE && mapping != GDRDRV_MAPPING_NONE)
		result = -EINVAL;
	else if (mapping == GDRDRV_MAPPING_CACHED && !gdrdrv_may_be_cached(pin))
		result = -EOPNOTSUPP;
	else if (mapping == GDRDRV_MAPPING_WRITE_COMBINING && gdrdrv_device_mappings)
		result = -EOPNOTSUPP;
	else if (mapping == GDRDRV_MAPPING_DEVICE && !gdrdrv_device_mappings)
		result = -EOPNOTSUPP;
	else
		pin->requested = mapping;
	up_write(&pin->lock);
	return result;
}

static u32 gdrdrv_choose_mapping(const struct gdrdrv_pin *pin)
{
	if (pin->requested != GDRDRV_MAPPING_NONE)
		return pin->requested;
	if (gdrdrv_may_be_cached(pin))
		return GDRDRV_MAPPING_CACHED;
	return gdrdrv_device_mappings ? GDRDRV_MAPPING_DEVICE : GDRDRV_MAPPING_WRITE_COMBINING;
}

/* The type that the VMA asked the kernel for; where another driver had reserved the memory before, its type holds. */
u32 gdrdrv_mapping_of(struct gdrdrv_pin *pin)
{
	u32 mapping = GDRDRV_MAPPING_NONE;

	down_read(&pin->lock);
	if (pin->state == GDRDRV_PIN_ACTIVE && atomic_read(&pin->vmas))
		mapping = pin->mapping;
	up_read(&pin->lock);
	return mapping;
}

static void gdrdrv_vma_open(struct vm_area_struct *vma)
{
	struct gdrdrv_pin *pin = vma->vm_private_data;

	kref_get(&pin->refs);
	atomic_inc(&pin->vmas);
	gdrdrv_count(mappings, 1);
}

static void gdrdrv_vma_close(struct vm_area_struct *vma)
{
	struct gdrdrv_pin *pin = vma->vm_private_data;

	gdrdrv_count(mappings, -1);
	atomic_dec(&pin->vmas);
	gdrdrv_pin_put(pin);
}

/* Where a VMA's address is in its pin. */
static u64 gdrdrv_vma_offset(const struct vm_area_struct *vma, unsigned long at)
{
	const struct gdrdrv_pin *pin = vma->vm_private_data;

	return ((u64)(vma->vm_pgoff - pin->handle) << PAGE_SHIFT) + (at - vma->vm_start);
}

/*
 * Whether a fault may insert. In a VMA that userfaultfd has armed, as kernels from 6.7 on may allow, it may not: there
 * the kernel puts markers into empty entries, which insertion leaves alone. The fault would be repeated forever, in a
 * system call even of a process that is killed.
 */
static bool gdrdrv_may_insert(const struct vm_fault *vmf, const struct gdrdrv_pin *pin)
{
	return pin->state == GDRDRV_PIN_ACTIVE && !userfaultfd_armed(vmf->vma);
}

/*
 * Inserts the GPU page that the address is in, as far as the VMA has it and one page table maps it: by the kernel's own
 * function for each of the CPU's pages, although that looks up the memory type each time. It alone decides what an
 * entry becomes, and it leaves an entry alone that is not empty: another thread's, or a marker. Where another thread
 * has inserted a large entry since the fault began, all is done.
 */
static vm_fault_t gdrdrv_insert_gpu_page(struct vm_fault *vmf, const struct gdrdrv_pin *pin)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long inside = gdrdrv_vma_offset(vma, vmf->address) & (GPU_PAGE_SIZE - 1);
	unsigned long table = round_down(vmf->address, PMD_SIZE);
	unsigned long first = max(vma->vm_start, table), last = min(vma->vm_end, table + PMD_SIZE);
	unsigned long at = vmf->address - min(inside, vmf->address - first);
	unsigned long end = vmf->address + min(GPU_PAGE_SIZE - inside, last - vmf->address);
	vm_fault_t result = VM_FAULT_NOPAGE;

	if (gdrdrv_has_large_entry(vmf))
		return VM_FAULT_NOPAGE;
	for (; at < end && result == VM_FAULT_NOPAGE; at += PAGE_SIZE)
		result = vmf_insert_pfn(vma, at, PHYS_PFN(gdrdrv_physical(pin, gdrdrv_vma_offset(vma, at))));
	return result;
}

static vm_fault_t gdrdrv_vma_fault(struct vm_fault *vmf)
{
	struct gdrdrv_pin *pin = vmf->vma->vm_private_data;
	vm_fault_t result = VM_FAULT_SIGBUS;

	down_read(&pin->lock);
	if (gdrdrv_may_insert(vmf, pin))
		result = gdrdrv_insert_gpu_page(vmf, pin);
	up_read(&pin->lock);
	gdrdrv_count(faults, 1);
	return result;
}

#if GDRDRV_LARGE_ENTRIES
/* One entry for all of a range of that size, if the VMA has it and it is contiguous and aligned; else FALLBACK. */
static vm_fault_t gdrdrv_insert_large(struct vm_fault *vmf, const struct gdrdrv_pin *pin)
{
	unsigned long at = round_down(vmf->address, PMD_SIZE);
	struct vm_area_struct *vma = vmf->vma;
	u64 offset;

	if (at < vma->vm_start || vma->vm_end - at < PMD_SIZE || gdrdrv_has_page_table(vmf))
		return VM_FAULT_FALLBACK;
	offset = gdrdrv_vma_offset(vma, at);
	if (IS_ALIGNED(gdrdrv_physical(pin, offset), PMD_SIZE) &&
	    gdrdrv_contiguous_bytes(pin, offset, PMD_SIZE) == PMD_SIZE)
		return gdrdrv_insert_pmd(vmf, PHYS_PFN(gdrdrv_physical(pin, offset)));
	return VM_FAULT_FALLBACK;
}

/*
 * Under the lock for writing: until the large entry is inserted, no fault of another thread, for which the process
 * excludes large entries, inserts small ones in its place.
 */
static vm_fault_t gdrdrv_vma_huge_fault(struct vm_fault *vmf, unsigned int order)
{
	struct gdrdrv_pin *pin = vmf->vma->vm_private_data;
	vm_fault_t result = VM_FAULT_SIGBUS;

	if (order != PMD_ORDER)
		return VM_FAULT_FALLBACK;
	down_write(&pin->lock);
	if (gdrdrv_may_insert(vmf, pin))
		result = gdrdrv_insert_large(vmf, pin);
	up_write(&pin->lock);
	if (result != VM_FAULT_FALLBACK)
		gdrdrv_count(faults, 1);
	return result;
}
#endif

/* Copies inside one page of the CPU's, as the process's own accesses would. */
static int gdrdrv_copy(const struct gdrdrv_pin *pin, phys_addr_t start, void *buffer, int bytes, bool write)
{
	phys_addr_t page = round_down(start, PAGE_SIZE);
	unsigned long inside = offset_in_page(start);
	void __iomem *mapped;

	if (pin->mapping == GDRDRV_MAPPING_CACHED) {
		void *memory = memremap(page, PAGE_SIZE, MEMREMAP_WB);

		if (!memory)
			return -ENOMEM;
		if (write)
			memcpy(memory + inside, buffer, bytes);
		else
			memcpy(buffer, memory + inside, bytes);
		memunmap(memory);
		return bytes;
	}
	mapped = pin->mapping == GDRDRV_MAPPING_DEVICE ? ioremap(page, PAGE_SIZE) :
							 ioremap_wc(page, PAGE_SIZE);
	if (!mapped)
		return -ENOMEM;
	if (write)
		memcpy_toio(mapped + inside, buffer, bytes);
	else
		memcpy_fromio(buffer, mapped + inside, bytes);
	iounmap(mapped);
	return bytes;
}

/* For debuggers and /proc/PID/mem; the kernel's own function for it is GPL-only. It asks again for the rest. */
static int gdrdrv_vma_access(struct vm_area_struct *vma, unsigned long at, void *buffer, int bytes, int write)
{
	struct gdrdrv_pin *pin = vma->vm_private_data;
	int result = -EIO;

	if (write && !(vma->vm_flags & VM_WRITE))
		return -EACCES;
	bytes = min_t(unsigned long, bytes, PAGE_SIZE - offset_in_page(at));
	down_read(&pin->lock);
	if (pin->state == GDRDRV_PIN_ACTIVE)
		result = gdrdrv_copy(pin, gdrdrv_physical(pin, gdrdrv_vma_offset(vma, at)), buffer, bytes, write);
	up_read(&pin->lock);
	return result;
}

static const struct vm_operations_struct gdrdrv_vm_operations = {
	.open = gdrdrv_vma_open,
	.close = gdrdrv_vma_close,
	.fault = gdrdrv_vma_fault,
	.access = gdrdrv_vma_access,
#if GDRDRV_LARGE_ENTRIES
	.huge_fault = gdrdrv_vma_huge_fault,
#endif
};

#if GDRDRV_LARGE_ENTRIES
/*
 * Chooses an address that is a multiple of a large entry's size where the physical one is. An address that the program names
 * is for the kernel to check, which takes a free one unless MAP_FIXED says that it need not be.
 */
unsigned long gdrdrv_get_unmapped_area(struct file *filp, unsigned long at, unsigned long size,
				       unsigned long offset, unsigned long flags)
{
	bool free_choice = !at && !(flags & MAP_FIXED);
	unsigned long found, chosen = 0;
	struct gdrdrv_pin *pin = NULL;

	if (free_choice && size >= PMD_SIZE)
		pin = gdrdrv_pin_lookup(filp->private_data, offset);
	if (pin && size <= pin->size) {
		found = gdrdrv_find_unmapped_area(filp, 0, size + PMD_SIZE, offset, flags);
		down_read(&pin->lock);
		if (!IS_ERR_VALUE(found) && pin->state == GDRDRV_PIN_ACTIVE)
			chosen = found + ((gdrdrv_page_address(pin->table, 0) - found) & (PMD_SIZE - 1));
		up_read(&pin->lock);
	}
	if (pin)
		gdrdrv_pin_put(pin);
	return chosen ?: gdrdrv_find_unmapped_area(filp, at, size, offset, flags);
}
#endif

static int gdrdrv_vma_prepare(struct gdrdrv_pin *pin, struct vm_area_struct *vma)
{
	int result;

	if (pin->state != GDRDRV_PIN_ACTIVE || atomic_read(&pin->vmas) || !pin->whole_pages)
		return -EINVAL;
	if (vma->vm_end - vma->vm_start > pin->size)
		return -EINVAL;

	pin->mapping = gdrdrv_choose_mapping(pin);
	if (pin->mapping == GDRDRV_MAPPING_WRITE_COMBINING) {
		result = gdrdrv_reserve_all(pin);
		if (result)
			return result;
		vma->vm_page_prot = gdrdrv_write_combining(vma->vm_page_prot);
	} else if (pin->mapping == GDRDRV_MAPPING_DEVICE) {
		vma->vm_page_prot = gdrdrv_device(vma->vm_page_prot);
	}
	/* No copy for children, no growth, nothing of it in core dumps. */
	gdrdrv_init_vm_flags(vma, vma->vm_flags | VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_private_data = pin;
	vma->vm_ops = &gdrdrv_vm_operations;
	gdrdrv_vma_open(vma);
	return 0;
}

int gdrdrv_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct gdrdrv_file *file = filp->private_data;
	struct gdrdrv_pin *pin;
	int result;

	if (!gdrdrv_is_current_program(&file->owner))
		return -EACCES;
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL; /* a private mapping would copy GPU memory into the process's own */
	pin = gdrdrv_pin_lookup(file, vma->vm_pgoff);
	if (!pin)
		return -EINVAL;
	down_write(&pin->lock);
	result = gdrdrv_vma_prepare(pin, vma);
	up_write(&pin->lock);
	if (!result)
		gdrdrv_count(mapped, 1);
	gdrdrv_pin_put(pin);
	return result;
}
