// SPDX-License-Identifier: MIT OR GPL-2.0
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
 * and one to the module, whose code is to be called.
 */
static DEFINE_HASHTABLE(armed, 10);
static DEFINE_SPINLOCK(armed_lock);
static unsigned long last_number;

static void arm(struct gdrdrv_pin *pin)
{
	kref_get(&pin->refs);
	__module_get(THIS_MODULE);
	spin_lock(&armed_lock);
	pin->callback = ++last_number;
	hash_add(armed, &pin->armed, pin->callback);
	spin_unlock(&armed_lock);
}

/* Does nothing if the callback has come. */
static void disarm(struct gdrdrv_pin *pin)
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
static void taken_away(void *number)
{
	struct gdrdrv_pin *pin = take_out((unsigned long)number);
	struct nvidia_p2p_page_table *table, *given;
	bool left_behind;

	if (!pin)
		return;
	down_write(&pin->lock);
	table = gdrdrv_unmap(pin);
	pin->taken_away = true;
	left_behind = pin->left_behind;
	given = READ_ONCE(pin->given);
	if (table)
		gdrdrv_push_event(&pin->file->events, pin);
	up_write(&pin->lock);
	/* NVIDIA demands it of callbacks, and of them alone. */
	if (given)
		nvidia_p2p_free_page_table(given);
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

/* nvidia.ko uses a code that user space has no name for, and may use one that is none. */
static int for_programs(int result)
{
	if (result > 0)
		return -EIO;
	return result == -ENOTSUPP ? -EOPNOTSUPP : result;
}

/* In callback mode, taken_away may be called from now on, before this returns, too. */
static int get(struct gdrdrv_pin *pin)
{
#ifdef NVIDIA_P2P_CAP_GET_PAGES_PERSISTENT_API
	if (gdrdrv_persistent())
		return nvidia_p2p_get_pages_persistent(
			pin->va, pin->size, &pin->given,
			pin->force_pcie ? NVIDIA_P2P_FLAGS_FORCE_BAR1_MAPPING : 0);
#endif
	return nvidia_p2p_get_pages(pin->p2p_token, pin->va_space, pin->va, pin->size, &pin->given,
				    gdrdrv_persistent() ? NULL : taken_away, (void *)pin->callback);
}

static int put(struct gdrdrv_pin *pin, struct nvidia_p2p_page_table *table)
{
#ifdef NVIDIA_P2P_CAP_GET_PAGES_PERSISTENT_API
	if (gdrdrv_persistent())
		return nvidia_p2p_put_pages_persistent(pin->va, table, 0);
#endif
	return nvidia_p2p_put_pages(pin->p2p_token, pin->va_space, pin->va, table);
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

/* Who waits for another's call of nvidia.ko can be killed, where it has nothing to give back. */
static int lock_tables_killable(void)
{
	return gdrdrv_persistent() ? 0 : mutex_lock_killable(&tables_lock);
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
static int adopt(struct gdrdrv_pin *pin)
{
	int result = -EINVAL;

	down_write(&pin->lock);
	if (!pin->taken_away) {
		gdrdrv_count(pages_held, 1);
		pin->table = pin->given;
		result = gdrdrv_check_table(pin->table, pin->size >> GPU_PAGE_SHIFT, &pin->in_a_row);
	}
	up_write(&pin->lock);
	return result;
}

/* If it fails, the pin may have pages that are to be put. */
int gdrdrv_get_pages(struct gdrdrv_pin *pin)
{
	u64 begin;
	int result;

	result = lock_tables_killable();
	if (result)
		return result;
	if (!gdrdrv_persistent())
		arm(pin);
	begin = gdrdrv_cycles();
	result = get(pin);
	pin->cycles = gdrdrv_cycles() - begin;
	unlock_tables();
	if (!result)
		return adopt(pin);
	if (!gdrdrv_persistent())
		disarm(pin);
	pr_debug("nvidia.ko gives no pages for 0x%llx, %llu bytes: %d\n", pin->va, pin->size, result);
	return for_programs(result);
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

/*
 * Whether the callback may still come: nvidia.ko looks only among the tables of the process that calls it,
 * unless it gets a token. Otherwise it has run or will never run once the pages have been put.
 */
static bool may_be_called_back(const struct gdrdrv_pin *pin, int result)
{
	return !gdrdrv_persistent() &&
	       (result || (!pin->p2p_token && !gdrdrv_is_in_this_process(&pin->file->owner)));
}

/* Once it has none, it gets none any more. */
static bool has_table(struct gdrdrv_pin *pin)
{
	bool result;

	down_read(&pin->lock);
	result = pin->table;
	up_read(&pin->lock);
	return result;
}

/* Unmaps the pin, and gives its pages back. False if nvidia.ko keeps them: then they remain charged. */
bool gdrdrv_put_pages(struct gdrdrv_pin *pin)
{
	struct nvidia_p2p_page_table *table;
	bool left_behind = false;

	if (!has_table(pin))
		return true;
	lock_tables();
	down_write(&pin->lock);
	table = gdrdrv_unmap(pin);
	up_write(&pin->lock);
	if (table) {
		int result = put(pin, table);

		if (result)
			pr_err_ratelimited("nvidia.ko does not take back the pages of 0x%llx: %d\n",
					   pin->va, result);
		if (may_be_called_back(pin, result)) {
			left_behind = leave_behind(pin);
		} else {
			gdrdrv_count(pages_held, -1);
			if (!gdrdrv_persistent())
				disarm(pin);
		}
	}
	unlock_tables();
	return !left_behind;
}
