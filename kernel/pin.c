// SPDX-License-Identifier: MIT OR GPL-2.0
/* Pins: made for an address, released by the caller, by the end of its file, or by nvidia.ko. */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat.h"
#include "gdrdrv.h"
#include "nv-p2p.h"

static void free_pin(struct kref *refs)
{
	kfree(container_of(refs, struct gdrdrv_pin, refs));
	gdrdrv_count(pin_objects, -1);
}

void gdrdrv_put_pin(struct gdrdrv_pin *pin)
{
	kref_put(&pin->refs, free_pin);
}

/* Under the file's lock. */
static struct gdrdrv_pin *find_pin(struct gdrdrv_file *file, u64 handle)
{
	struct rb_node *node = file->pins.rb_node;

	while (node) {
		struct gdrdrv_pin *pin = rb_entry(node, struct gdrdrv_pin, node);

		if (pin->handle == handle)
			return pin;
		node = handle < pin->handle ? node->rb_left : node->rb_right;
	}
	return NULL;
}

/* The caller's reference, or NULL. A pin that is still being made is not found. */
struct gdrdrv_pin *gdrdrv_get_pin(struct gdrdrv_file *file, u64 handle)
{
	struct gdrdrv_pin *pin;

	spin_lock(&file->lock);
	pin = find_pin(file, handle);
	if (pin)
		kref_get(&pin->refs);
	spin_unlock(&file->lock);
	return pin;
}

/* From here on, other threads can use it, and unpin it. */
static void publish_pin(struct gdrdrv_file *file, struct gdrdrv_pin *pin)
{
	struct rb_node **place = &file->pins.rb_node, *parent = NULL;

	spin_lock(&file->lock);
	while (*place) {
		parent = *place;
		place = pin->handle < rb_entry(parent, struct gdrdrv_pin, node)->handle ?
				&parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&pin->node, parent, place);
	rb_insert_color(&pin->node, &file->pins);
	spin_unlock(&file->lock);
}

/*
 * A handle is the mmap offset in the CPU's pages. A pin takes as many numbers as it has pages, so that a
 * range of offsets identifies one pin, and a handle is never reused on its file.
 */
static int take_handle(struct gdrdrv_file *file, struct gdrdrv_pin *pin)
{
	const unsigned long most = LLONG_MAX >> PAGE_SHIFT; /* an off_t in bytes must hold it */
	unsigned long pages = pin->size >> PAGE_SHIFT;
	int result = -ENOSPC;

	spin_lock(&file->lock);
	if (pages <= most - file->next_handle) {
		pin->handle = file->next_handle;
		file->next_handle += pages;
		result = 0;
	}
	spin_unlock(&file->lock);
	return result;
}

static struct gdrdrv_pin *new_pin(struct gdrdrv_file *file, const struct gdrdrv_pin_args *asked,
				  u32 flags)
{
	struct gdrdrv_pin *pin;
	u64 begin = round_down(asked->address, GPU_PAGE_SIZE), end;

	if (!asked->address || !asked->size ||
	    check_add_overflow(asked->address, asked->size, &end) || end > U64_MAX - GPU_PAGE_SIZE)
		return ERR_PTR(-EINVAL);
	end = round_up(end, GPU_PAGE_SIZE);
	if ((end - begin) >> GPU_PAGE_SHIFT > U32_MAX)
		return ERR_PTR(-EINVAL); /* more pages than a table counts */
	if (flags & ~GDRDRV_PIN_FORCE_PCIE)
		return ERR_PTR(-EINVAL);
	if (flags & GDRDRV_PIN_FORCE_PCIE && !gdrdrv_offers_force_pcie())
		return ERR_PTR(-EINVAL);
	if ((asked->p2p_token || asked->va_space) && gdrdrv_persistent())
		return ERR_PTR(-EINVAL);

	pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);
	if (!pin)
		return ERR_PTR(-ENOMEM);
	gdrdrv_count(pin_objects, 1);
	kref_init(&pin->refs);
	init_rwsem(&pin->lock);
	pin->file = file;
	pin->user = file->user;
	pin->va = begin;
	pin->size = end - begin;
	pin->whole_pages = pin->va == asked->address;
	pin->p2p_token = asked->p2p_token;
	pin->va_space = asked->va_space;
	pin->force_pcie = flags & GDRDRV_PIN_FORCE_PCIE;
	return pin;
}

/*
 * In callback mode, an unpin may name a table to nvidia.ko that a callback has freed just before, which
 * nvidia.ko takes for nothing to do. It would not if a table that it has made since were at the same place
 * for the same address: so none is made meanwhile.
 */
static DEFINE_MUTEX(tables_lock);

static void lock_tables(void)
{
	if (!gdrdrv_persistent())
		mutex_lock(&tables_lock);
}

static void unlock_tables(void)
{
	if (!gdrdrv_persistent())
		mutex_unlock(&tables_lock);
}

/*
 * Makes the table the pin's, unless nvidia.ko has revoked it meanwhile. Then, and if the table cannot be
 * mapped, the pin has none.
 */
static int adopt_table(struct gdrdrv_pin *pin, struct nvidia_p2p_page_table *table)
{
	int result = -EINVAL;

	down_write(&pin->lock);
	if (pin->taken_away) {
		gdrdrv_count(pages_held, -1);
	} else {
		pin->table = table;
		result = gdrdrv_check_table(pin, table);
	}
	up_write(&pin->lock);
	return result;
}

static struct nvidia_p2p_page_table *take_table(struct gdrdrv_pin *pin)
{
	struct nvidia_p2p_page_table *table;

	down_write(&pin->lock);
	table = pin->table;
	pin->table = NULL;
	if (table)
		gdrdrv_unmap(pin, table);
	up_write(&pin->lock);
	return table;
}

/*
 * nvidia.ko has not put the pin's pages. Its callback comes when the memory is freed, and ends the charge for
 * them; false if it has come already.
 */
static bool leave_behind(struct gdrdrv_pin *pin)
{
	bool result;

	down_write(&pin->lock);
	result = !pin->taken_away;
	pin->left_behind = result;
	if (result)
		gdrdrv_get_user(pin->user);
	else
		gdrdrv_count(pages_held, -1);
	up_write(&pin->lock);
	return result;
}

/* Ends a pin that can no longer be found. With an mm, waits for an mmap there that has found it. */
static void release_pin(struct gdrdrv_pin *pin, struct mm_struct *mm)
{
	struct nvidia_p2p_page_table *table;
	bool left_behind = false;

	lock_tables();
	if (mm && gdrdrv_persistent())
		mmap_read_lock(mm);
	table = take_table(pin);
	if (mm && gdrdrv_persistent())
		mmap_read_unlock(mm);
	if (table && !gdrdrv_put_pages(pin, table))
		left_behind = leave_behind(pin);
	else if (table && !gdrdrv_persistent())
		gdrdrv_disarm(pin);
	unlock_tables();
	if (!left_behind)
		gdrdrv_uncharge(pin->user, pin->size);
	gdrdrv_put_pin(pin);
}

static void give_up_pin(struct gdrdrv_pin *pin, struct mm_struct *mm)
{
	struct gdrdrv_file *file = pin->file;

	atomic64_dec(&file->live_pins);
	atomic64_sub(pin->size, &file->live_bytes);
	gdrdrv_count(pins, -1);
	gdrdrv_count(bytes, -(s64)pin->size);
	release_pin(pin, mm);
}

static int pin_pages(struct gdrdrv_pin *pin)
{
	struct nvidia_p2p_page_table *table = NULL;
	int result;

	if (!gdrdrv_persistent())
		gdrdrv_arm(pin);
	lock_tables();
	result = gdrdrv_get_pages(pin, &table);
	unlock_tables();
	if (!result)
		return adopt_table(pin, table);
	if (!gdrdrv_persistent())
		gdrdrv_disarm(pin);
	return result;
}

int gdrdrv_pin(struct gdrdrv_file *file, const struct gdrdrv_pin_args *asked, u32 flags, u64 *handle)
{
	struct gdrdrv_pin *pin = new_pin(file, asked, flags);
	int result;

	if (IS_ERR(pin)) {
		gdrdrv_count(refused, 1);
		return PTR_ERR(pin);
	}
	result = gdrdrv_charge(pin->user, pin->size);
	if (result)
		goto refuse;
	result = take_handle(file, pin);
	if (result) {
		gdrdrv_uncharge(pin->user, pin->size);
		goto refuse;
	}

	atomic64_inc(&file->live_pins);
	atomic64_add(pin->size, &file->live_bytes);
	gdrdrv_count(pins, 1);
	gdrdrv_count(bytes, pin->size);
	result = pin_pages(pin);
	if (result) {
		gdrdrv_count(refused, 1);
		give_up_pin(pin, NULL);
		return result;
	}
	*handle = pin->handle;
	gdrdrv_count(pinned, 1);
	publish_pin(file, pin);
	return 0;

refuse:
	gdrdrv_count(refused, 1);
	gdrdrv_put_pin(pin);
	return result;
}

/* The file's reference passes to the caller. */
static struct gdrdrv_pin *withdraw_pin(struct gdrdrv_file *file, struct gdrdrv_pin *pin)
{
	if (pin)
		rb_erase(&pin->node, &file->pins);
	return pin;
}

int gdrdrv_unpin(struct gdrdrv_file *file, u64 handle)
{
	struct gdrdrv_pin *pin;

	spin_lock(&file->lock);
	pin = withdraw_pin(file, find_pin(file, handle));
	spin_unlock(&file->lock);
	if (!pin)
		return -EINVAL;
	give_up_pin(pin, current->mm);
	return 0;
}

/* For a file whose process uses it no more, so that no mmap is on its way. */
void gdrdrv_unpin_all(struct gdrdrv_file *file)
{
	struct gdrdrv_pin *pin;

	for (;;) {
		spin_lock(&file->lock);
		pin = withdraw_pin(file, rb_entry_safe(rb_first(&file->pins), struct gdrdrv_pin, node));
		spin_unlock(&file->lock);
		if (!pin)
			break;
		give_up_pin(pin, NULL);
	}
}
