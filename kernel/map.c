// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Mapping pins into the process, and unmapping them. Faults alone insert pages, under the pin's lock and while it
 * has its table. Who takes the table from it under that lock, and unmaps what is mapped then, has unmapped all:
 * mmap inserts nothing, before the kernel has linked the VMA and unmap_mapping_range() finds it.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sizes.h>

#include "compat.h"
#include "gdrdrv.h"
#include "nv-p2p.h"

bool gdrdrv_device_mappings;

/* How many bytes are contiguous from this page on, at most that many. */
static size_t contiguous(const struct gdrdrv_pin *pin, unsigned long page, size_t most)
{
	phys_addr_t start = gdrdrv_page_address(pin->table, page);
	size_t size = GPU_PAGE_SIZE;

	if (pin->in_a_row)
		return most;
	while (size < most && gdrdrv_page_address(pin->table, ++page) == start + size)
		size += GPU_PAGE_SIZE;
	return min(size, most);
}

static void free_reservation(struct gdrdrv_pin *pin)
{
	u64 done = 0;

	while (done < pin->reserved) {
		size_t size = contiguous(pin, done >> GPU_PAGE_SHIFT, pin->reserved - done);

		gdrdrv_free_memory_type(gdrdrv_page_address(pin->table, done >> GPU_PAGE_SHIFT), size);
		done += size;
	}
	pin->reserved = 0;
}

/* For all of the pin, since a VMA may be unmapped and another one mapped. */
static int reserve_write_combining(struct gdrdrv_pin *pin)
{
	while (GDRDRV_RESERVES_WRITE_COMBINING && pin->reserved < pin->size) {
		unsigned long page = pin->reserved >> GPU_PAGE_SHIFT;
		size_t size = contiguous(pin, page, pin->size - pin->reserved);
		int result = gdrdrv_reserve_write_combining(gdrdrv_page_address(pin->table, page), size);

		if (result) {
			free_reservation(pin);
			pr_notice_ratelimited("the memory type of 0x%llx cannot be reserved: %d\n",
					      pin->va, result);
			return result;
		}
		pin->reserved += size;
	}
	return 0;
}

/*
 * Under the pin's lock, for writing. Takes its table, which the caller gets, or NULL: no page is mapped from now
 * on.
 */
struct nvidia_p2p_page_table *gdrdrv_unmap(struct gdrdrv_pin *pin)
{
	struct nvidia_p2p_page_table *table = pin->table;

	if (!table)
		return NULL;
	/* By offset, which finds every VMA, also those that were split off or moved. */
	if (atomic_read(&pin->areas))
		unmap_mapping_range(&pin->file->mapping, (loff_t)pin->handle << PAGE_SHIFT, pin->size,
				    0);
	free_reservation(pin);
	pin->table = NULL;
	return table;
}

static bool may_be_cached(const struct gdrdrv_pin *pin)
{
	return !pin->force_pcie && gdrdrv_table_is_cacheable(pin->table);
}

int gdrdrv_request_mapping(struct gdrdrv_pin *pin, u32 type)
{
	int result = 0;

	down_write(&pin->lock);
	if (atomic_read(&pin->areas))
		result = -EBUSY;
	else if (!pin->table && type != GDRDRV_MAPPING_NONE)
		result = -EINVAL;
	else if (type == GDRDRV_MAPPING_CACHED && !may_be_cached(pin))
		result = -EOPNOTSUPP;
	else if (type == GDRDRV_MAPPING_WRITE_COMBINING && gdrdrv_device_mappings)
		result = -EOPNOTSUPP;
	else if (type == GDRDRV_MAPPING_DEVICE && !gdrdrv_device_mappings)
		result = -EOPNOTSUPP;
	else
		pin->wanted = type;
	up_write(&pin->lock);
	return result;
}

static u32 choose_mapping(const struct gdrdrv_pin *pin)
{
	if (pin->wanted != GDRDRV_MAPPING_NONE)
		return pin->wanted;
	if (may_be_cached(pin))
		return GDRDRV_MAPPING_CACHED;
	return gdrdrv_device_mappings ? GDRDRV_MAPPING_DEVICE : GDRDRV_MAPPING_WRITE_COMBINING;
}

/* An enum gdrdrv_mapping, or an error: what it is at its first page, which may not be what was wanted. */
int gdrdrv_mapping_of(struct gdrdrv_pin *pin)
{
	int type = GDRDRV_MAPPING_NONE, combines;

	down_read(&pin->lock);
	if (pin->table && atomic_read(&pin->areas))
		type = pin->type;
	if (type == GDRDRV_MAPPING_WRITE_COMBINING) {
		combines = gdrdrv_is_write_combining(gdrdrv_page_address(pin->table, 0));
		if (combines <= 0)
			type = combines ?: GDRDRV_MAPPING_DEVICE;
	}
	up_read(&pin->lock);
	return type;
}

static void area_opened(struct vm_area_struct *vma)
{
	struct gdrdrv_pin *pin = vma->vm_private_data;

	kref_get(&pin->refs);
	atomic_inc(&pin->areas);
	gdrdrv_count(mappings, 1);
}

static void area_closed(struct vm_area_struct *vma)
{
	struct gdrdrv_pin *pin = vma->vm_private_data;

	gdrdrv_count(mappings, -1);
	atomic_dec(&pin->areas);
	gdrdrv_put_pin(pin);
}

/* Where a VMA's address is in its pin. */
static u64 offset_of(const struct vm_area_struct *vma, unsigned long at)
{
	const struct gdrdrv_pin *pin = vma->vm_private_data;

	return ((u64)(vma->vm_pgoff - pin->handle) << PAGE_SHIFT) + (at - vma->vm_start);
}

/* How many bytes from this offset on are contiguous, at most that many, and where they start. */
static size_t run_at(const struct gdrdrv_pin *pin, u64 offset, size_t most, phys_addr_t *start)
{
	unsigned long page = offset >> GPU_PAGE_SHIFT, inside = offset & (GPU_PAGE_SIZE - 1);

	*start = gdrdrv_page_address(pin->table, page) + inside;
	return contiguous(pin, page, most + inside) - inside;
}

/* A fault inserts all that is around it in such a range, which one page of the page table holds. */
#define AROUND min_t(unsigned long, PMD_SIZE, SZ_2M)

static int fill_around(struct vm_fault *vmf, const struct gdrdrv_pin *pin)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long at = max(vma->vm_start, round_down(vmf->address, AROUND));
	unsigned long end = min(vma->vm_end - 1, vmf->address | (AROUND - 1)) + 1;
	int result = 0;

	while (at < end && !result) {
		phys_addr_t start;
		size_t size = run_at(pin, offset_of(vma, at), end - at, &start);

		result = gdrdrv_insert(vmf, at, start >> PAGE_SHIFT, size);
		at += size;
	}
	return result;
}

static vm_fault_t area_fault(struct vm_fault *vmf)
{
	struct gdrdrv_pin *pin = vmf->vma->vm_private_data;
	int result = -EFAULT;

	gdrdrv_count(faults, 1);
	down_read(&pin->lock);
	if (pin->table)
		result = fill_around(vmf, pin);
	up_read(&pin->lock);
	if (result)
		return result == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
	return VM_FAULT_NOPAGE;
}

#if GDRDRV_LARGE_ENTRIES
/* One entry for all of such a range, if that is in the VMA, contiguous, and starts at a multiple of its size. */
static vm_fault_t area_large_fault(struct vm_fault *vmf, unsigned int order)
{
	struct vm_area_struct *vma = vmf->vma;
	struct gdrdrv_pin *pin = vma->vm_private_data;
	unsigned long at = round_down(vmf->address, PMD_SIZE);
	vm_fault_t result = VM_FAULT_SIGBUS;
	phys_addr_t start;

	if (order != PMD_ORDER || at < vma->vm_start || vma->vm_end - at < PMD_SIZE)
		return VM_FAULT_FALLBACK;
	down_read(&pin->lock);
	if (pin->table) {
		result = VM_FAULT_FALLBACK;
		if (run_at(pin, offset_of(vma, at), PMD_SIZE, &start) == PMD_SIZE && IS_ALIGNED(start, PMD_SIZE))
			result = gdrdrv_insert_large(vmf, start >> PAGE_SHIFT);
	}
	up_read(&pin->lock);
	if (result == VM_FAULT_NOPAGE)
		gdrdrv_count(faults, 1);
	return result;
}
#endif

/* Copies inside one page of the CPU's, as the process's own accesses would. */
static int copy(const struct gdrdrv_pin *pin, phys_addr_t start, void *buffer, int bytes, bool write)
{
	phys_addr_t page = round_down(start, PAGE_SIZE);
	unsigned long inside = offset_in_page(start);
	void __iomem *mapped;

	if (pin->type == GDRDRV_MAPPING_CACHED) {
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
	mapped = pin->type == GDRDRV_MAPPING_DEVICE ? ioremap(page, PAGE_SIZE) :
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
static int area_access(struct vm_area_struct *vma, unsigned long at, void *buffer, int bytes, int write)
{
	struct gdrdrv_pin *pin = vma->vm_private_data;
	phys_addr_t start;
	int result = -EIO;

	if (write && !(vma->vm_flags & VM_WRITE))
		return -EACCES;
	bytes = min_t(unsigned long, bytes, PAGE_SIZE - offset_in_page(at));
	down_read(&pin->lock);
	if (pin->table) {
		run_at(pin, offset_of(vma, at), bytes, &start);
		result = copy(pin, start, buffer, bytes, write);
	}
	up_read(&pin->lock);
	return result;
}

static const struct vm_operations_struct area_operations = {
	.open = area_opened,
	.close = area_closed,
	.fault = area_fault,
	.access = area_access,
#if GDRDRV_LARGE_ENTRIES
	.huge_fault = area_large_fault,
#endif
};

#if GDRDRV_LARGE_ENTRIES
/*
 * Where an address is a multiple of a large entry's size, its physical one is, too. An address that the program names
 * is for the kernel to check, which takes a free one unless MAP_FIXED says that it need not be.
 */
unsigned long gdrdrv_unmapped_area(struct file *filp, unsigned long at, unsigned long size,
				   unsigned long offset, unsigned long flags)
{
	bool free_choice = !at && !(flags & MAP_FIXED);
	unsigned long found, chosen = 0;
	struct gdrdrv_pin *pin = NULL;

	if (free_choice && size >= PMD_SIZE)
		pin = gdrdrv_get_pin(filp->private_data, offset);
	if (pin && size <= pin->size) {
		found = gdrdrv_find_area(filp, 0, size + PMD_SIZE, offset, flags);
		down_read(&pin->lock);
		if (!IS_ERR_VALUE(found) && pin->table)
			chosen = found + ((gdrdrv_page_address(pin->table, 0) - found) & (PMD_SIZE - 1));
		up_read(&pin->lock);
	}
	if (pin)
		gdrdrv_put_pin(pin);
	return chosen ?: gdrdrv_find_area(filp, at, size, offset, flags);
}
#endif

static int prepare_area(struct gdrdrv_pin *pin, struct vm_area_struct *vma)
{
	int result;

	if (!pin->table || atomic_read(&pin->areas) || !pin->whole_pages)
		return -EINVAL;
	if (vma->vm_end - vma->vm_start > pin->size)
		return -EINVAL;

	pin->type = choose_mapping(pin);
	if (pin->type == GDRDRV_MAPPING_WRITE_COMBINING) {
		result = reserve_write_combining(pin);
		if (result)
			return result;
		vma->vm_page_prot = gdrdrv_write_combining(vma->vm_page_prot);
	} else if (pin->type == GDRDRV_MAPPING_DEVICE) {
		vma->vm_page_prot = gdrdrv_device(vma->vm_page_prot);
	}
	/* Children get no copy; no growth; nothing of it in core dumps. */
	gdrdrv_init_vm_flags(vma, vma->vm_flags | VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_private_data = pin;
	vma->vm_ops = &area_operations;
	area_opened(vma);
	return 0;
}

int gdrdrv_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct gdrdrv_file *file = filp->private_data;
	struct gdrdrv_pin *pin;
	int result;

	if (!gdrdrv_is_this_process(&file->owner))
		return -EACCES;
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL; /* a private mapping would copy GPU memory into the process's own */
	pin = gdrdrv_get_pin(file, vma->vm_pgoff);
	if (!pin)
		return -EINVAL;
	down_write(&pin->lock);
	result = prepare_area(pin, vma);
	up_write(&pin->lock);
	if (!result)
		gdrdrv_count(mapped, 1);
	gdrdrv_put_pin(pin);
	return result;
}
