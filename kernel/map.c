// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Mapping pins into the process, and unmapping them. Faults alone insert pages, under the pin's lock and while it
 * has its table. Who takes the table from it under that lock, and unmaps what is mapped then, has unmapped all:
 * mmap inserts nothing, before the kernel has linked the VMA and unmap_mapping_range() finds it.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mman.h>

#include "compat.h"
#include "gdrdrv.h"
#include "nv-p2p.h"

bool gdrdrv_device_mappings;

static phys_addr_t address_at(const struct gdrdrv_pin *pin, u64 offset)
{
	return gdrdrv_page_address(pin->table, offset >> GPU_PAGE_SHIFT) + (offset & (GPU_PAGE_SIZE - 1));
}

/* How many bytes are contiguous from this offset on, at most that many. */
static size_t contiguous(const struct gdrdrv_pin *pin, u64 offset, size_t most)
{
	phys_addr_t start = address_at(pin, offset);
	size_t size = GPU_PAGE_SIZE - (offset & (GPU_PAGE_SIZE - 1));

	if (pin->in_a_row)
		return most;
	while (size < most && address_at(pin, offset + size) == start + size)
		size += GPU_PAGE_SIZE;
	return min(size, most);
}

static void free_reservation(struct gdrdrv_pin *pin)
{
	u64 done = 0;

	while (done < pin->reserved) {
		size_t size = contiguous(pin, done, pin->reserved - done);

		gdrdrv_free_memory_type(address_at(pin, done), size);
		done += size;
	}
	pin->reserved = 0;
}

/* For all of the pin, since a VMA may be unmapped and another one mapped. */
static int reserve_write_combining(struct gdrdrv_pin *pin)
{
	while (GDRDRV_RESERVES_WRITE_COMBINING && pin->reserved < pin->size) {
		size_t size = contiguous(pin, pin->reserved, pin->size - pin->reserved);
		int result = gdrdrv_reserve_write_combining(address_at(pin, pin->reserved), size);

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

/* What the VMA asked the kernel for; where another driver had reserved the memory before, that driver's type holds. */
u32 gdrdrv_mapping_of(struct gdrdrv_pin *pin)
{
	u32 type = GDRDRV_MAPPING_NONE;

	down_read(&pin->lock);
	if (pin->table && atomic_read(&pin->areas))
		type = pin->type;
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

/*
 * Inserts the GPU page that the address is in, as far as the VMA has it: by the kernel's own function for each of the
 * CPU's pages, although that looks up the memory type each time. It alone decides what an entry becomes, and it leaves
 * an entry alone that is not empty: another thread's, or a marker of userfaultfd's.
 */
static vm_fault_t insert_around(struct vm_fault *vmf, const struct gdrdrv_pin *pin)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long inside = offset_of(vma, vmf->address) & (GPU_PAGE_SIZE - 1);
	unsigned long at = vmf->address - min(inside, vmf->address - vma->vm_start);
	unsigned long end = vmf->address + min(GPU_PAGE_SIZE - inside, vma->vm_end - vmf->address);
	vm_fault_t result = VM_FAULT_NOPAGE;

	for (; at < end && result == VM_FAULT_NOPAGE; at += PAGE_SIZE)
		result = vmf_insert_pfn(vma, at, PHYS_PFN(address_at(pin, offset_of(vma, at))));
	return result;
}

static vm_fault_t area_fault(struct vm_fault *vmf)
{
	struct gdrdrv_pin *pin = vmf->vma->vm_private_data;
	vm_fault_t result = VM_FAULT_SIGBUS;

	gdrdrv_count(faults, 1);
	down_read(&pin->lock);
	if (pin->table)
		result = insert_around(vmf, pin);
	up_read(&pin->lock);
	return result;
}

#if GDRDRV_LARGE_ENTRIES
/* One entry for all of such a range, if that is in the VMA, contiguous, and starts at a multiple of its size. */
static vm_fault_t area_large_fault(struct vm_fault *vmf, unsigned int order)
{
	struct vm_area_struct *vma = vmf->vma;
	struct gdrdrv_pin *pin = vma->vm_private_data;
	unsigned long at = round_down(vmf->address, PMD_SIZE);
	vm_fault_t result = VM_FAULT_SIGBUS;
	u64 offset;

	if (order != PMD_ORDER || at < vma->vm_start || vma->vm_end - at < PMD_SIZE)
		return VM_FAULT_FALLBACK;
	down_read(&pin->lock);
	if (pin->table) {
		result = VM_FAULT_FALLBACK;
		offset = offset_of(vma, at);
		if (IS_ALIGNED(address_at(pin, offset), PMD_SIZE) && contiguous(pin, offset, PMD_SIZE) == PMD_SIZE)
			result = gdrdrv_insert_large(vmf, PHYS_PFN(address_at(pin, offset)));
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
	int result = -EIO;

	if (write && !(vma->vm_flags & VM_WRITE))
		return -EACCES;
	bytes = min_t(unsigned long, bytes, PAGE_SIZE - offset_in_page(at));
	down_read(&pin->lock);
	if (pin->table)
		result = copy(pin, address_at(pin, offset_of(vma, at)), buffer, bytes, write);
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
