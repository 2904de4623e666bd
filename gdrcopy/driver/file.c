// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* An open descriptor, from open to the last close. */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "gdrdrv.h"

static int gdrdrv_open(struct inode *inode, struct file *filp)
{
	struct gdrdrv_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	int result = -ENOMEM;

	if (!file)
		return -ENOMEM;
	file->user = gdrdrv_user_find(current_uid());
	if (!file->user)
		goto free;
	result = gdrdrv_init_events(&file->events);
	if (result)
		goto put_user;
	gdrdrv_remember_process(&file->owner);
	spin_lock_init(&file->lock);
	file->pins = RB_ROOT;
	file->next_handle = 1; /* so that a handle of 0, which a caller forgot to set, is invalid */

	/* All descriptors of a device share its inode's mapping; offsets mean something on one of them. */
	address_space_init_once(&file->mapping);
	file->mapping.host = inode;
	file->mapping.a_ops = inode->i_mapping->a_ops;
	filp->f_mapping = &file->mapping;
	filp->private_data = file;
	gdrdrv_count(files, 1);
	return nonseekable_open(inode, filp);

put_user:
	gdrdrv_user_put(file->user);
free:
	kfree(file);
	return result;
}

/*
 * Every close of a descriptor comes here, the last one or not. Pins go with their process, also where a
 * child that inherited the descriptor keeps it open.
 */
static int gdrdrv_flush(struct file *filp, fl_owner_t id)
{
	struct gdrdrv_file *file = filp->private_data;

	if (gdrdrv_is_exiting_process(&file->owner))
		gdrdrv_unpin_all(file);
	return 0;
}

static int gdrdrv_release(struct inode *inode, struct file *filp)
{
	struct gdrdrv_file *file = filp->private_data;

	gdrdrv_unpin_all(file);
	filp->f_mapping = inode->i_mapping;
	gdrdrv_free_events(&file->events);
	gdrdrv_user_put(file->user);
	gdrdrv_count(files, -1);
	kfree(file);
	return 0;
}

const struct file_operations gdrdrv_file_operations = {
	.owner = THIS_MODULE,
	.open = gdrdrv_open,
	.flush = gdrdrv_flush,
	.release = gdrdrv_release,
	.unlocked_ioctl = gdrdrv_ioctl,
	.mmap = gdrdrv_mmap,
#if GDRDRV_LARGE_ENTRIES
	.get_unmapped_area = gdrdrv_get_unmapped_area,
#endif
	.read = gdrdrv_read,
	.poll = gdrdrv_poll,
};
