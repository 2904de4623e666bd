// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Mapping pins into the process, and unmapping them. The kernel links an area only after mmap has been
 * here, and what is not linked is not found by who takes the memory away. So pages are put in by mmap only
 * where that waits for mmap: in persistent mode, where it is an unpin, which takes the mm's lock. A
 * callback must not; in callback mode, pages are put in by faults, each of which fills all that one page of
 * the page table can hold.
 */
#include <linux/mm.h>

#include "compat.h"
#include "gdrdrv.h"
#include "nv-p2p.h"

/*
 * Calls visit for each physically contiguous piece of the pin; stops at what it answers other than 0, and
 * tells the page at which.
 */
static int each_piece(const struct gdrdrv_pin *pin, const struct nvidia_p2p_page_table *table,
		      unsigned long pages, int (*visit)(phys_addr_t start, size_t size),
		      unsigned long *stopped_at)
{
	unsigned long first = 0, next;
	int result;

	for (; first < pages; first = next) {
		phys_addr_t start = gdrdrv_page_address(table, first);

		for (next = first + 1; next < pages; next++)
			if (gdrdrv_page_address(table, next) !=
			    start + ((next - first) << GPU_PAGE_SHIFT))
				break;
		result = visit(start, (next - first) << GPU_PAGE_SHIFT);
		if (result) {
			*stopped_at = first;
			return result;
		}
	}
	return 0;
}

static int reserve_piece(phys_addr_t start, size_t size)
{
	return gdrdrv_reserve_write_combining(start, size);
}

static int free_piece(phys_addr_t start, size_t size)
{
	gdrdrv_free_write_combining(start, size);
	return 0;
}

static int reserve_write_combining(struct gdrdrv_pin *pin)
{
	unsigned long stopped_at;
	int result;

	if (!GDRDRV_RESERVES_WRITE_COMBINING || pin->reserved)
		return 0;
	result = each_piece(pin, pin->table, pin->size >> GPU_PAGE_SHIFT, reserve_piece, &stopped_at);
	if (result) {
		each_piece(pin, pin->table, stopped_at, free_piece, &stopped_at);
		pr_notice_ratelimited("the memory of 0x%llx is mapped with another cache mode: %d\n",
				      pin->va, result);
		return result;
	}
	pin->reserved = true;
	return 0;
}

/* Under the pin's lock; the pin has its table no more, so that nothing is mapped any more. */
void gdrdrv_unmap(struct gdrdrv_pin *pin, const struct nvidia_p2p_page_table *table)
{
	unsigned long unused;

	/* By offset, which finds every area, also what was split off, moved or mapped again. */
	if (atomic_read(&pin->areas))
		unmap_mapping_range(&pin->file->mapping, (loff_t)pin->handle << PAGE_SHIFT, pin->size,
				    0);
	if (pin->reserved)
		each_piece(pin, table, pin->size >> GPU_PAGE_SHIFT, free_piece, &unused);
	pin->reserved = false;
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
	else if (type == GDRDRV_MAPPING_WRITE_COMBINING && gdrdrv_needs_device_mappings())
		result = -EOPNOTSUPP;
	else if (type == GDRDRV_MAPPING_DEVICE && !gdrdrv_needs_device_mappings())
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
	return gdrdrv_needs_device_mappings() ? GDRDRV_MAPPING_DEVICE :
						GDRDRV_MAPPING_WRITE_COMBINING;
}

u32 gdrdrv_mapping_of(struct gdrdrv_pin *pin)
{
	u32 type;

	down_read(&pin->lock);
	type = pin->table && atomic_read(&pin->areas) ? pin->type : GDRDRV_MAPPING_NONE;
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

/* How many bytes follow in a row from this page on, up to a number of them. */
static size_t contiguous(const struct gdrdrv_pin *pin, unsigned long page, size_t most)
{
	phys_addr_t start = gdrdrv_page_address(pin->table, page);
	size_t size = GPU_PAGE_SIZE;

	while (size < most && gdrdrv_page_address(pin->table, ++page) == start + size)
		size += GPU_PAGE_SIZE;
	return min(size, most);
}

static int fill(struct vm_area_struct *vma, const struct gdrdrv_pin *pin, unsigned long begin,
		unsigned long end, bool is_new)
{
	unsigned long offset = ((vma->vm_pgoff - pin->handle) << PAGE_SHIFT) + (begin - vma->vm_start);

	while (begin < end) {
		unsigned long page = offset >> GPU_PAGE_SHIFT, inside = offset & (GPU_PAGE_SIZE - 1);
		size_t size = contiguous(pin, page, end - begin + inside) - inside;
		phys_addr_t start = gdrdrv_page_address(pin->table, page) + inside;
		int result = gdrdrv_insert(vma, begin, start >> PAGE_SHIFT, size, is_new);

		if (result)
			return result;
		begin += size;
		offset += size;
	}
	return 0;
}

static vm_fault_t area_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct gdrdrv_pin *pin = vma->vm_private_data;
	unsigned long begin = max(vma->vm_start, vmf->address & PMD_MASK);
	unsigned long end = min(vma->vm_end - 1, vmf->address | ~PMD_MASK) + 1;
	int result = -EFAULT;

	gdrdrv_count(faults, 1);
	down_read(&pin->lock);
	if (pin->table)
		result = fill(vma, pin, begin, end, false);
	up_read(&pin->lock);
	if (result)
		return result == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
	return VM_FAULT_NOPAGE;
}

static const struct vm_operations_struct area_operations = {
	.open = area_opened,
	.close = area_closed,
	.fault = area_fault,
};

static int prepare_area(struct gdrdrv_pin *pin, struct vm_area_struct *vma)
{
	u32 type;
	int result;

	if (!pin->table || atomic_read(&pin->areas) || !pin->whole_pages)
		return -EINVAL;
	if (vma->vm_end - vma->vm_start > pin->size)
		return -EINVAL;

	type = choose_mapping(pin);
	if (type == GDRDRV_MAPPING_WRITE_COMBINING) {
		result = reserve_write_combining(pin);
		if (result)
			return result;
		vma->vm_page_prot = gdrdrv_write_combining(vma->vm_page_prot);
	} else if (type == GDRDRV_MAPPING_DEVICE) {
		vma->vm_page_prot = gdrdrv_device(vma->vm_page_prot);
	}
	pin->type = type;
	/* Children get no copy; no growth; nothing of it in core dumps. */
	gdrdrv_vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	if (gdrdrv_persistent()) {
		result = fill(vma, pin, vma->vm_start, vma->vm_end, true);
		if (result)
			return result; /* and the kernel takes out what is in */
	}
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
