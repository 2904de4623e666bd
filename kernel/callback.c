// SPDX-License-Identifier: MIT OR GPL-2.0
/* nvidia.ko's callback, by which it revokes memory. */
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/spinlock.h>

#include "gdrdrv.h"

/*
 * nvidia.ko may call back after nvidia_p2p_put_pages() has returned success: without a token, it looks for a
 * table among those of the calling process only, and not to find it is no error. So it gets a number, which
 * identifies a pin while that is in this table, and is invalid later. Each entry has a reference to the pin,
 * and one to the module, whose code is to be called.
 */
static DEFINE_HASHTABLE(armed, 10);
static DEFINE_SPINLOCK(armed_lock);
static unsigned long last_number;

void gdrdrv_arm(struct gdrdrv_pin *pin)
{
	kref_get(&pin->refs);
	__module_get(THIS_MODULE);
	spin_lock(&armed_lock);
	pin->callback = ++last_number;
	hash_add(armed, &pin->armed, pin->callback);
	spin_unlock(&armed_lock);
}

/* Does nothing if the callback has come. */
void gdrdrv_disarm(struct gdrdrv_pin *pin)
{
	bool was_armed;

	spin_lock(&armed_lock);
	was_armed = hash_hashed(&pin->armed);
	hash_del(&pin->armed);
	spin_unlock(&armed_lock);
	if (!was_armed)
		return;
	gdrdrv_put_pin(pin);
	module_put(THIS_MODULE);
}

/* The pin with the references that it had here, or NULL. */
static struct gdrdrv_pin *take_out(unsigned long number)
{
	struct gdrdrv_pin *pin;

	spin_lock(&armed_lock);
	hash_for_each_possible(armed, pin, armed, number)
		if (pin->callback == number) {
			hash_del(&pin->armed);
			break;
		}
	spin_unlock(&armed_lock);
	return pin;
}

/*
 * It may come in any process, under locks of nvidia.ko's. If the pin no longer has its table, an unpin was
 * first: it waits in nvidia.ko for the end of this, or has left the table behind; then the pin's file may
 * be gone.
 */
void gdrdrv_taken_away(void *number)
{
	struct gdrdrv_pin *pin = take_out((unsigned long)number);
	struct nvidia_p2p_page_table *table;
	bool left_behind;

	if (!pin)
		return;
	down_write(&pin->lock);
	table = pin->table;
	pin->table = NULL;
	pin->taken_away = true;
	left_behind = pin->left_behind;
	if (table) {
		gdrdrv_unmap(pin, table);
		gdrdrv_push_event(&pin->file->events, pin);
	}
	up_write(&pin->lock);
	if (table || left_behind)
		gdrdrv_count(pages_held, -1);
	if (left_behind) {
		gdrdrv_uncharge(pin->user, pin->size);
		gdrdrv_put_user(pin->user);
	}
	gdrdrv_count(taken_away, 1);
	gdrdrv_put_pin(pin);
	module_put(THIS_MODULE); /* last: the driver may be unloaded from here on */
}
