// SPDX-License-Identifier: MIT OR GPL-2.0
/* The ioctls: their arguments are checked and copied here. */
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "gdrdrv.h"

union arguments {
	struct gdrdrv_pin_args pin;
	struct gdrdrv_unpin_args unpin;
	struct gdrdrv_callback_flag_args callback_flag;
	struct gdrdrv_info_args info;
	struct gdrdrv_info_v2_args info_v2;
	struct gdrdrv_attribute_args attribute;
	struct gdrdrv_pin_v2_args pin_v2;
	struct gdrdrv_request_mapping_args request_mapping;
	struct gdrdrv_version_args version;
	struct gdrdrv_features_args features;
	struct gdrdrv_usage_args usage;
};

static int pin(struct gdrdrv_file *file, union arguments *with)
{
	return gdrdrv_pin(file, &with->pin, 0, &with->pin.handle);
}

static int pin_v2(struct gdrdrv_file *file, union arguments *with)
{
	struct gdrdrv_pin_args asked = { .address = with->pin_v2.address, .size = with->pin_v2.size };

	return gdrdrv_pin(file, &asked, with->pin_v2.flags, &with->pin_v2.handle);
}

static int unpin(struct gdrdrv_file *file, union arguments *with)
{
	return gdrdrv_unpin(file, with->unpin.handle);
}

static int callback_flag(struct gdrdrv_file *file, union arguments *with)
{
	struct gdrdrv_pin *pin = gdrdrv_get_pin(file, with->callback_flag.handle);

	if (!pin)
		return -EINVAL;
	down_read(&pin->lock);
	with->callback_flag.flag = pin->taken_away;
	up_read(&pin->lock);
	gdrdrv_put_pin(pin);
	return 0;
}

static int info_v2(struct gdrdrv_file *file, union arguments *with)
{
	struct gdrdrv_pin *pin = gdrdrv_get_pin(file, with->info_v2.handle);

	if (!pin)
		return -EINVAL;
	with->info_v2.va = pin->va;
	with->info_v2.mapped_size = pin->size;
	with->info_v2.page_size = GPU_PAGE_SIZE;
	with->info_v2.tsc_khz = gdrdrv_khz();
	with->info_v2.tm_cycles = pin->cycles;
	with->info_v2.mapping = gdrdrv_mapping_of(pin);
	gdrdrv_put_pin(pin);
	return 0;
}

static int info(struct gdrdrv_file *file, union arguments *with)
{
	union arguments newer = { .info_v2.handle = with->info.handle };
	int result = info_v2(file, &newer);

	if (result)
		return result;
	with->info.va = newer.info_v2.va;
	with->info.mapped_size = newer.info_v2.mapped_size;
	with->info.page_size = newer.info_v2.page_size;
	with->info.tsc_khz = newer.info_v2.tsc_khz;
	with->info.tm_cycles = newer.info_v2.tm_cycles;
	with->info.mapped = newer.info_v2.mapping != GDRDRV_MAPPING_NONE;
	with->info.write_combining = newer.info_v2.mapping == GDRDRV_MAPPING_WRITE_COMBINING;
	return 0;
}

static int attribute(struct gdrdrv_file *file, union arguments *with)
{
	switch (with->attribute.attribute) {
	case GDRDRV_ATTRIBUTE_PERSISTENT:
		with->attribute.value = gdrdrv_persistent();
		return 0;
	case GDRDRV_ATTRIBUTE_FORCE_PCIE:
		with->attribute.value = gdrdrv_offers_force_pcie();
		return 0;
	}
	return -EINVAL;
}

static int request_mapping(struct gdrdrv_file *file, union arguments *with)
{
	struct gdrdrv_pin *pin;
	int result;

	if (with->request_mapping.mapping > GDRDRV_MAPPING_DEVICE)
		return -EINVAL;
	pin = gdrdrv_get_pin(file, with->request_mapping.handle);
	if (!pin)
		return -EINVAL;
	result = gdrdrv_request_mapping(pin, with->request_mapping.mapping);
	gdrdrv_put_pin(pin);
	return result;
}

static int version(struct gdrdrv_file *file, union arguments *with)
{
	with->version.driver = GDRDRV_ABI_VERSION;
	with->version.oldest_library = GDRDRV_ABI_OLDEST_LIBRARY;
	return 0;
}

static int features(struct gdrdrv_file *file, union arguments *with)
{
	if (with->features.reserved)
		return -EINVAL;
	with->features.features = gdrdrv_persistent() ? GDRDRV_FEATURE_PERSISTENT :
							GDRDRV_FEATURE_EVENTS;
	if (gdrdrv_offers_force_pcie())
		with->features.features |= GDRDRV_FEATURE_FORCE_PCIE;
	with->features.event_size = sizeof(struct gdrdrv_event);
	with->features.event_capacity = GDRDRV_EVENT_CAPACITY;
	return 0;
}

static int usage(struct gdrdrv_file *file, union arguments *with)
{
	if (with->usage.reserved)
		return -EINVAL;
	with->usage.pins = atomic64_read(&file->live_pins);
	with->usage.bytes = atomic64_read(&file->live_bytes);
	with->usage.user_pins = atomic64_read(&file->user->pins);
	with->usage.user_bytes = atomic64_read(&file->user->bytes);
	with->usage.max_user_pins = READ_ONCE(gdrdrv_max_user_pins);
	with->usage.max_user_bytes = READ_ONCE(gdrdrv_max_user_bytes);
	return 0;
}

struct command {
	int (*run)(struct gdrdrv_file *file, union arguments *with);
	unsigned int in, out; /* bytes; the size in the number is often that of a pointer */
};

#define TAKES(name) { name, sizeof_field(union arguments, name), 0 }
#define ANSWERS(name) \
	{ name, sizeof_field(union arguments, name), sizeof_field(union arguments, name) }

static const struct command *find(unsigned int number)
{
	static const struct command commands[] = {
		ANSWERS(pin), TAKES(unpin), ANSWERS(callback_flag), ANSWERS(info), ANSWERS(info_v2),
		ANSWERS(attribute), ANSWERS(pin_v2), TAKES(request_mapping), ANSWERS(features),
		ANSWERS(usage), { version, 0, sizeof(struct gdrdrv_version_args) },
	};

	switch (number) {
	case GDRDRV_PIN:
		return &commands[0];
	case GDRDRV_UNPIN:
		return &commands[1];
	case GDRDRV_GET_CALLBACK_FLAG:
		return &commands[2];
	case GDRDRV_GET_INFO:
		return &commands[3];
	case GDRDRV_GET_INFO_V2:
		return &commands[4];
	case GDRDRV_GET_ATTRIBUTE:
		return &commands[5];
	case GDRDRV_PIN_V2:
		return &commands[6];
	case GDRDRV_REQUEST_MAPPING:
		return &commands[7];
	case GDRDRV_GET_FEATURES:
		return &commands[8];
	case GDRDRV_GET_USAGE:
		return &commands[9];
	case GDRDRV_GET_VERSION:
		return &commands[10];
	}
	return NULL;
}

/* A caller that did not receive its handle could never unpin it. */
static void undo(struct gdrdrv_file *file, unsigned int number, const union arguments *with)
{
	if (number == GDRDRV_PIN)
		gdrdrv_unpin(file, with->pin.handle);
	else if (number == GDRDRV_PIN_V2)
		gdrdrv_unpin(file, with->pin_v2.handle);
}

long gdrdrv_ioctl(struct file *filp, unsigned int number, unsigned long argument)
{
	void __user *user = (void __user *)argument;
	struct gdrdrv_file *file = filp->private_data;
	const struct command *command;
	union arguments with;
	int result;

	if (_IOC_TYPE(number) != GDRDRV_MAGIC)
		return -EINVAL;
	if (!gdrdrv_is_this_process(&file->owner))
		return -EACCES;
	command = find(number);
	if (!command)
		return -ENOTTY;
	if (command->in && copy_from_user(&with, user, command->in))
		return -EFAULT;
	result = command->run(file, &with);
	if (result) {
		pr_debug("ioctl %u: %d\n", _IOC_NR(number), result);
		return result;
	}
	if (command->out && copy_to_user(user, &with, command->out)) {
		undo(file, number, &with);
		return -EFAULT;
	}
	return 0;
}
