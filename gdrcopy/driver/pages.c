// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* All calls of nvidia.ko, and its callback, by which it revokes memory. */
#include <linux/errno.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "gdrdrv.h"
#include "nv-p2p.h"

/*
 * nvidia.ko may call back after nvidia_p2p_put_pages() has returned success: without a token, it looks for a
 * table among those of the calling process only, and not to find it is no error. So it gets a number, which
 * identifies a pin while that is in this table, and is invalid later. Each entry has a reference to the pin,
 * and one to the module, whose code will be called.
 */
static DEFINE_HASHTABLE(callbacks, 10);
static DEFINE_SPINLOCK(callbacks_lock);
static unsigned long last_number;

static void gdrdrv_callback_register(struct gdrdrv_pin *pin)
{
	kref_get(&pin->refs);
	__module_get(THIS_MODULE);
	spin_lock(&callbacks_lock);
	pin->callback_number = ++last_number;
	hash_add(callbacks, &pin->callback_node, pin->callback_number);
	spin_unlock(&callbacks_lock);
}

/* Does nothing if the callback has come. */
static void gdrdrv_callback_unregister(struct gdrdrv_pin *pin)
{
	bool registered;

	spin_lock(&callbacks_lock);
	registered = hash_hashed(&pin->callback_node);
	hash_del(&pin->callback_node);
	spin_unlock(&callbacks_lock);
	if (!registered)
		return;
	gdrdrv_pin_put(pin);
	module_put(THIS_MODULE);
}

/* Removes the pin of this number, whose references pass to the caller; NULL if there is none. */
static struct gdrdrv_pin *gdrdrv_callback_remove(unsigned long number)
{
	struct gdrdrv_pin *pin;

	spin_lock(&callbacks_lock);
	hash_for_each_possible(callbacks, pin, callback_node, number)
		if (pin->callback_number == number) {
			hash_del(&pin->callback_node);
			break;
		}
	spin_unlock(&callbacks_lock);
	return pin;
}

/*
 * It may come in any process, under locks of nvidia.ko's. If the pin is not active, either nvidia.ko has not
 * returned from giving the table, or an unpin was first: that waits in nvidia.ko for the end of this, or has
 * orphaned the pin, whose file may be gone.
 */
static void gdrdrv_revoke(void *number)
{
	struct gdrdrv_pin *pin = gdrdrv_callback_remove((unsigned long)number);
	struct nvidia_p2p_page_table *table;
	enum gdrdrv_pin_state before;

	if (!pin)
		return;
	down_write(&pin->lock);
	before = pin->state;
	pin->state = GDRDRV_PIN_REVOKED;
	table = READ_ONCE(pin->table);
	if (before == GDRDRV_PIN_ACTIVE) {
		gdrdrv_unmap(pin);
		gdrdrv_push_event(&pin->file->events, pin);
	}
	up_write(&pin->lock);
	/* NVIDIA demands it of callbacks, and of them alone. */
	if (table)
		nvidia_p2p_free_page_table(table);
	if (before == GDRDRV_PIN_ACTIVE || before == GDRDRV_PIN_ORPHANED)
		gdrdrv_count(pages_held, -1);
	if (before == GDRDRV_PIN_ORPHANED) {
		gdrdrv_user_uncharge(pin->user, pin->size);
		gdrdrv_user_put(pin->user);
	}
	gdrdrv_count(revoked, 1);
	gdrdrv_pin_put(pin);
	/* Last; but the return from here is still the module's code (docs/security.md, "Not covered"). */
	module_put(THIS_MODULE);
}

/* nvidia.ko uses a code that user space has no name for, and may use one that is none. */
static int gdrdrv_user_errno(int result)
{
	if (result > 0)
		return -EIO;
	return result == -ENOTSUPP ? -EOPNOTSUPP : result;
}

/* In callback mode, the callback may come from now on, also before this returns. */
static int gdrdrv_nv_get_pages(struct gdrdrv_pin *pin)
{
#ifdef NVIDIA_P2P_CAP_GET_PAGES_PERSISTENT_API
	if (gdrdrv_persistent())
		return nvidia_p2p_get_pages_persistent(
			pin->va, pin->size, &pin->table,
			pin->force_pcie ? NVIDIA_P2P_FLAGS_FORCE_BAR1_MAPPING : 0);
#endif
	return nvidia_p2p_get_pages(pin->p2p_token, pin->va_space, pin->va, pin->size, &pin->table,
				    gdrdrv_persistent() ? NULL : gdrdrv_revoke,
				    (void *)pin->callback_number);
}

static int gdrdrv_nv_put_pages(struct gdrdrv_pin *pin)
{
#ifdef NVIDIA_P2P_CAP_GET_PAGES_PERSISTENT_API
	if (gdrdrv_persistent())
		return nvidia_p2p_put_pages_persistent(pin->va, pin->table, 0);
#endif
	return nvidia_p2p_put_pages(pin->p2p_token, pin->va_space, pin->va, pin->table);
}

/*
 * In callback mode, an unpin may name a table to nvidia.ko that a callback has freed just before, which
 * nvidia.ko takes for nothing to do. It would not if a table that it has made since were at the same place
 * for the same address: so none is made meanwhile.
 */
static DEFINE_MUTEX(tables_lock);

static void gdrdrv_lock_tables(void)
{
	if (!gdrdrv_persistent())
		mutex_lock(&tables_lock);
}

/* A process that waits for another's call of nvidia.ko can be killed where it has nothing to release. */
static int gdrdrv_lock_tables_killable(void)
{
	return gdrdrv_persistent() ? 0 : mutex_lock_killable(&tables_lock);
}

static void gdrdrv_unlock_tables(void)
{
	if (!gdrdrv_persistent())
		mutex_unlock(&tables_lock);
}

/* The pin has got its table, unless nvidia.ko has revoked that meanwhile. If it cannot be mapped, it must be put. */
static int gdrdrv_activate(struct gdrdrv_pin *pin)
{
	int result = -EINVAL;

	down_write(&pin->lock);
	if (pin->state == GDRDRV_PIN_NEW) {
		pin->state = GDRDRV_PIN_ACTIVE;
		gdrdrv_count(pages_held, 1);
		result = gdrdrv_check_table(pin->table, pin->size >> GPU_PAGE_SHIFT, &pin->contiguous);
	}
	up_write(&pin->lock);
	return result;
}

/* If it fails, the pin may have pages all the same: gdrdrv_put_pages() releases them. */
int gdrdrv_get_pages(struct gdrdrv_pin *pin)
{
	u64 begin;
	int result;

	result = gdrdrv_lock_tables_killable();
	if (result)
		return result;
	if (!gdrdrv_persistent())
		gdrdrv_callback_register(pin);
	begin = gdrdrv_cycles();
	result = gdrdrv_nv_get_pages(pin);
	pin->cycles = gdrdrv_cycles() - begin;
	gdrdrv_unlock_tables();
	if (!result)
		return gdrdrv_activate(pin);
	if (!gdrdrv_persistent())
		gdrdrv_callback_unregister(pin);
	pr_debug("nvidia.ko gives no pages for 0x%llx, %llu bytes: %d\n", pin->va, pin->size, result);
	return gdrdrv_user_errno(result);
}

/*
 * nvidia.ko has not put the pin's pages. Its callback comes when the memory is freed, and ends the charge for
 * them; false if it has come already.
 */
static bool gdrdrv_orphan(struct gdrdrv_pin *pin)
{
	bool result;

	down_write(&pin->lock);
	result = pin->state == GDRDRV_PIN_RELEASED;
	if (result) {
		pin->state = GDRDRV_PIN_ORPHANED;
		gdrdrv_user_get(pin->user);
	} else {
		gdrdrv_count(pages_held, -1);
	}
	up_write(&pin->lock);
	return result;
}

/*
 * Whether the callback may still come: nvidia.ko looks only among the tables of the process that calls it,
 * unless it gets a token. Otherwise it has run or will never run once the pages have been put.
 */
static bool gdrdrv_callback_may_come(const struct gdrdrv_pin *pin, int result)
{
	return !gdrdrv_persistent() &&
	       (result || (!pin->p2p_token && !gdrdrv_is_current_process(&pin->file->owner)));
}

/* A pin that is not active does not become so again. */
static bool gdrdrv_is_active(struct gdrdrv_pin *pin)
{
	bool result;

	down_read(&pin->lock);
	result = pin->state == GDRDRV_PIN_ACTIVE;
	up_read(&pin->lock);
	return result;
}

/* Unmaps an active pin, which is released then. False if it is not active any more. */
static bool gdrdrv_deactivate(struct gdrdrv_pin *pin)
{
	bool active;

	down_write(&pin->lock);
	active = pin->state == GDRDRV_PIN_ACTIVE;
	if (active) {
		gdrdrv_unmap(pin);
		pin->state = GDRDRV_PIN_RELEASED;
	}
	up_write(&pin->lock);
	return active;
}

/* Unmaps the pin, and puts its pages. False if nvidia.ko keeps them: then they remain charged. */
bool gdrdrv_put_pages(struct gdrdrv_pin *pin)
{
	bool orphaned = false;

	if (!gdrdrv_is_active(pin))
		return true;
	gdrdrv_lock_tables();
	if (gdrdrv_deactivate(pin)) {
		int result = gdrdrv_nv_put_pages(pin);

		if (result)
			pr_err_ratelimited("nvidia.ko does not release the pages of 0x%llx: %d\n",
					   pin->va, result);
		if (gdrdrv_callback_may_come(pin, result)) {
			orphaned = gdrdrv_orphan(pin);
		} else {
			gdrdrv_count(pages_held, -1);
			if (!gdrdrv_persistent())
				gdrdrv_callback_unregister(pin);
		}
	}
	gdrdrv_unlock_tables();
	return !orphaned;
}
