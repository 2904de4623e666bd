// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Lets a mapping of a device seem one of ordinary memory, for which some kernels permit more: so that what those
 * permit for devices, too, can be done on the others.
 */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/version.h>

#include "fakegpu_memory.h"

#define OF_A_DEVICE (VM_IO | VM_PFNMAP | VM_DONTEXPAND)

static void change(struct vm_area_struct *vma, bool ordinary)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	if (ordinary)
		vm_flags_clear(vma, OF_A_DEVICE);
	else
		vm_flags_set(vma, OF_A_DEVICE);
#else
	vma->vm_flags = ordinary ? vma->vm_flags & ~OF_A_DEVICE : vma->vm_flags | OF_A_DEVICE;
#endif
}

int fakegpu_ordinary(const struct fakegpu_ordinary *how)
{
	struct vm_area_struct *vma;
	int result = -EFAULT;

	mmap_write_lock(current->mm);
	vma = find_vma(current->mm, how->user_address);
	if (vma && vma->vm_start <= how->user_address && vma->vm_flags & VM_DONTDUMP) {
		change(vma, how->ordinary);
		result = 0;
	}
	mmap_write_unlock(current->mm);
	return result;
}
