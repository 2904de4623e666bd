// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A descriptor's pins by their handles, and references to them. */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "gdrdrv.h"

static void gdrdrv_pin_free(struct kref *refs)
{
	kfree(container_of(refs, struct gdrdrv_pin, refs));
	gdrdrv_count(pin_objects, -1);
}

void gdrdrv_pin_put(struct gdrdrv_pin *pin)
{
	kref_put(&pin->refs, gdrdrv_pin_free);
}

/* Under the file's lock. */
static struct gdrdrv_pin *gdrdrv_pin_find(struct gdrdrv_file *file, u64 handle)
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

/* With a reference for the caller, or NULL. A pin that is still being made is not found. */
struct gdrdrv_pin *gdrdrv_pin_lookup(struct gdrdrv_file *file, u64 handle)
{
	struct gdrdrv_pin *pin;

	spin_lock(&file->lock);
	pin = gdrdrv_pin_find(file, handle);
	if (pin)
		kref_get(&pin->refs);
	spin_unlock(&file->lock);
	return pin;
}

/* From here on, other threads can use it, and unpin it. */
void gdrdrv_pin_insert(struct gdrdrv_file *file, struct gdrdrv_pin *pin)
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
int gdrdrv_allocate_handle(struct gdrdrv_file *file, struct gdrdrv_pin *pin)
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

/* The file's reference passes to the caller. NULL if there is no such pin. */
struct gdrdrv_pin *gdrdrv_pin_remove(struct gdrdrv_file *file, u64 handle)
{
	struct gdrdrv_pin *pin;

	spin_lock(&file->lock);
	pin = gdrdrv_pin_find(file, handle);
	if (pin)
		rb_erase(&pin->node, &file->pins);
	spin_unlock(&file->lock);
	return pin;
}

/* The same with any pin. */
struct gdrdrv_pin *gdrdrv_pin_remove_any(struct gdrdrv_file *file)
{
	struct gdrdrv_pin *pin;

	spin_lock(&file->lock);
	pin = rb_entry_safe(rb_first(&file->pins), struct gdrdrv_pin, node);
	if (pin)
		rb_erase(&pin->node, &file->pins);
	spin_unlock(&file->lock);
	return pin;
}
