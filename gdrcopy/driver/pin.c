// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Pins: made for an address, released by the caller or by the end of its file. */
#include <linux/err.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "gdrdrv.h"

static struct gdrdrv_pin *gdrdrv_pin_new(struct gdrdrv_file *file, const struct gdrdrv_pin_args *asked,
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

/* Ends a pin that can no longer be found. */
static void gdrdrv_pin_end(struct gdrdrv_file *file, struct gdrdrv_pin *pin)
{
	atomic64_dec(&file->live_pins);
	atomic64_sub(pin->size, &file->live_bytes);
	gdrdrv_count(pins, -1);
	gdrdrv_count(bytes, -(s64)pin->size);
	if (gdrdrv_put_pages(pin))
		gdrdrv_user_uncharge(pin->user, pin->size);
	gdrdrv_pin_put(pin);
}

int gdrdrv_pin(struct gdrdrv_file *file, const struct gdrdrv_pin_args *asked, u32 flags, u64 *handle)
{
	struct gdrdrv_pin *pin = gdrdrv_pin_new(file, asked, flags);
	int result;

	if (IS_ERR(pin)) {
		gdrdrv_count(refused, 1);
		return PTR_ERR(pin);
	}
	result = gdrdrv_user_charge(pin->user, pin->size);
	if (result)
		goto refuse;
	result = gdrdrv_allocate_handle(file, pin);
	if (result) {
		gdrdrv_user_uncharge(pin->user, pin->size);
		goto refuse;
	}

	atomic64_inc(&file->live_pins);
	atomic64_add(pin->size, &file->live_bytes);
	gdrdrv_count(pins, 1);
	gdrdrv_count(bytes, pin->size);
	result = gdrdrv_get_pages(pin);
	if (result) {
		gdrdrv_count(refused, 1);
		gdrdrv_pin_end(file, pin);
		return result;
	}
	*handle = pin->handle;
	gdrdrv_count(pinned, 1);
	gdrdrv_pin_insert(file, pin);
	return 0;

refuse:
	gdrdrv_count(refused, 1);
	gdrdrv_pin_put(pin);
	return result;
}

int gdrdrv_unpin(struct gdrdrv_file *file, u64 handle)
{
	struct gdrdrv_pin *pin = gdrdrv_pin_remove(file, handle);

	if (!pin)
		return -EINVAL;
	gdrdrv_pin_end(file, pin);
	return 0;
}

void gdrdrv_unpin_all(struct gdrdrv_file *file)
{
	struct gdrdrv_pin *pin;

	while ((pin = gdrdrv_pin_remove_any(file)))
		gdrdrv_pin_end(file, pin);
}
