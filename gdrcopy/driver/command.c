// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The ioctls: their arguments are checked and copied here. */
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "gdrdrv.h"

union gdrdrv_arguments {
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

static int gdrdrv_ioctl_pin(struct gdrdrv_file *file, union gdrdrv_arguments *args)
{
	return gdrdrv_pin(file, &args->pin, 0, &args->pin.handle);
}

static int gdrdrv_ioctl_pin_v2(struct gdrdrv_file *file, union gdrdrv_arguments *args)
{
	struct gdrdrv_pin_args asked = { .address = args->pin_v2.address, .size = args->pin_v2.size };

	return gdrdrv_pin(file, &asked, args->pin_v2.flags, &args->pin_v2.handle);
}

static int gdrdrv_ioctl_unpin(struct gdrdrv_file *file, union gdrdrv_arguments *args)
{
	return gdrdrv_unpin(file, args->unpin.handle);
}

static int gdrdrv_ioctl_callback_flag(struct gdrdrv_file *file, union gdrdrv_arguments *args)
{
	struct gdrdrv_pin *pin = gdrdrv_pin_lookup(file, args->callback_flag.handle);

	if (!pin)
		return -EINVAL;
	down_read(&pin->lock);
	args->callback_flag.flag = pin->state == GDRDRV_PIN_REVOKED;
	up_read(&pin->lock);
	gdrdrv_pin_put(pin);
	return 0;
}

static int gdrdrv_ioctl_info_v2(struct gdrdrv_file *file, union gdrdrv_arguments *args)
{
	struct gdrdrv_pin *pin = gdrdrv_pin_lookup(file, args->info_v2.handle);

	if (!pin)
		return -EINVAL;
	args->info_v2.va = pin->va;
	args->info_v2.mapped_size = pin->size;
	args->info_v2.page_size = GPU_PAGE_SIZE;
	args->info_v2.tsc_khz = gdrdrv_khz();
	args->info_v2.tm_cycles = pin->cycles;
	args->info_v2.mapping = gdrdrv_mapping_of(pin);
	gdrdrv_pin_put(pin);
	return 0;
}

static int gdrdrv_ioctl_info(struct gdrdrv_file *file, union gdrdrv_arguments *args)
{
	union gdrdrv_arguments newer = { .info_v2.handle = args->info.handle };
	int result = gdrdrv_ioctl_info_v2(file, &newer);

	if (result)
		return result;
	args->info.va = newer.info_v2.va;
	args->info.mapped_size = newer.info_v2.mapped_size;
	args->info.page_size = newer.info_v2.page_size;
	args->info.tsc_khz = newer.info_v2.tsc_khz;
	args->info.tm_cycles = newer.info_v2.tm_cycles;
	args->info.mapped = newer.info_v2.mapping != GDRDRV_MAPPING_NONE;
	args->info.write_combining = newer.info_v2.mapping == GDRDRV_MAPPING_WRITE_COMBINING;
	return 0;
}

static int gdrdrv_ioctl_attribute(struct gdrdrv_file *file, union gdrdrv_arguments *args)
{
	switch (args->attribute.attribute) {
	case GDRDRV_ATTRIBUTE_PERSISTENT:
		args->attribute.value = gdrdrv_persistent();
		return 0;
	case GDRDRV_ATTRIBUTE_FORCE_PCIE:
		args->attribute.value = gdrdrv_offers_force_pcie();
		return 0;
	}
	return -EINVAL;
}

static int gdrdrv_ioctl_request_mapping(struct gdrdrv_file *file, union gdrdrv_arguments *args)
{
	struct gdrdrv_pin *pin;
	int result;

	if (args->request_mapping.mapping > GDRDRV_MAPPING_DEVICE)
		return -EINVAL;
	pin = gdrdrv_pin_lookup(file, args->request_mapping.handle);
	if (!pin)
		return -EINVAL;
	result = gdrdrv_request_mapping(pin, args->request_mapping.mapping);
	gdrdrv_pin_put(pin);
	return result;
}

static int gdrdrv_ioctl_version(struct gdrdrv_file *file, union gdrdrv_arguments *args)
{
	args->version.driver = GDRDRV_ABI_VERSION;
	args->version.oldest_library = GDRDRV_ABI_OLDEST_LIBRARY;
	return 0;
}

static int gdrdrv_ioctl_features(struct gdrdrv_file *file, union gdrdrv_arguments *args)
{
	if (args->features.reserved)
		return -EINVAL;
	args->features.features = gdrdrv_persistent() ? GDRDRV_FEATURE_PERSISTENT :
							GDRDRV_FEATURE_EVENTS;
	if (gdrdrv_offers_force_pcie())
		args->features.features |= GDRDRV_FEATURE_FORCE_PCIE;
	args->features.event_size = sizeof(struct gdrdrv_event);
	args->features.event_capacity = GDRDRV_EVENT_CAPACITY;
	return 0;
}

static int gdrdrv_ioctl_usage(struct gdrdrv_file *file, union gdrdrv_arguments *args)
{
	if (args->usage.reserved)
		return -EINVAL;
	args->usage.pins = atomic64_read(&file->live_pins);
	args->usage.bytes = atomic64_read(&file->live_bytes);
	args->usage.user_pins = atomic64_read(&file->user->pins);
	args->usage.user_bytes = atomic64_read(&file->user->bytes);
	args->usage.max_user_pins = READ_ONCE(gdrdrv_max_user_pins);
	args->usage.max_user_bytes = READ_ONCE(gdrdrv_max_user_bytes);
	return 0;
}

/* The size in a command's number is often that of a pointer, so the table has those of the structs. */
struct gdrdrv_command {
	unsigned int number;
	int (*run)(struct gdrdrv_file *file, union gdrdrv_arguments *args);
	size_t in, out; /* bytes */
};

#define SIZE(name) sizeof_field(union gdrdrv_arguments, name)

static const struct gdrdrv_command gdrdrv_commands[] = {
	{ GDRDRV_PIN, gdrdrv_ioctl_pin, SIZE(pin), SIZE(pin) },
	{ GDRDRV_UNPIN, gdrdrv_ioctl_unpin, SIZE(unpin), 0 },
	{ GDRDRV_GET_CALLBACK_FLAG, gdrdrv_ioctl_callback_flag, SIZE(callback_flag), SIZE(callback_flag) },
	{ GDRDRV_GET_INFO, gdrdrv_ioctl_info, SIZE(info), SIZE(info) },
	{ GDRDRV_GET_INFO_V2, gdrdrv_ioctl_info_v2, SIZE(info_v2), SIZE(info_v2) },
	{ GDRDRV_GET_ATTRIBUTE, gdrdrv_ioctl_attribute, SIZE(attribute), SIZE(attribute) },
	{ GDRDRV_PIN_V2, gdrdrv_ioctl_pin_v2, SIZE(pin_v2), SIZE(pin_v2) },
	{ GDRDRV_REQUEST_MAPPING, gdrdrv_ioctl_request_mapping, SIZE(request_mapping), 0 },
	{ GDRDRV_GET_FEATURES, gdrdrv_ioctl_features, SIZE(features), SIZE(features) },
	{ GDRDRV_GET_USAGE, gdrdrv_ioctl_usage, SIZE(usage), SIZE(usage) },
	{ GDRDRV_GET_VERSION, gdrdrv_ioctl_version, 0, SIZE(version) },
};

static const struct gdrdrv_command *gdrdrv_find_command(unsigned int number)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gdrdrv_commands); i++)
		if (gdrdrv_commands[i].number == number)
			return &gdrdrv_commands[i];
	return NULL;
}

/* A caller that did not receive its handle could never unpin it. */
static void gdrdrv_undo_pin(struct gdrdrv_file *file, unsigned int number, const union gdrdrv_arguments *args)
{
	if (number == GDRDRV_PIN)
		gdrdrv_unpin(file, args->pin.handle);
	else if (number == GDRDRV_PIN_V2)
		gdrdrv_unpin(file, args->pin_v2.handle);
}

long gdrdrv_ioctl(struct file *filp, unsigned int number, unsigned long argument)
{
	void __user *user = (void __user *)argument;
	struct gdrdrv_file *file = filp->private_data;
	const struct gdrdrv_command *command;
	union gdrdrv_arguments args;
	int result;

	if (_IOC_TYPE(number) != GDRDRV_MAGIC)
		return -EINVAL;
	if (!gdrdrv_is_current_program(&file->owner))
		return -EACCES;
	command = gdrdrv_find_command(number);
	if (!command)
		return -ENOTTY;
	if (command->in && copy_from_user(&args, user, command->in))
		return -EFAULT;
	result = command->run(file, &args);
	if (result) {
		pr_debug("ioctl %u: %d\n", _IOC_NR(number), result);
		return result;
	}
	if (command->out && copy_to_user(user, &args, command->out)) {
		gdrdrv_undo_pin(file, number, &args);
		return -EFAULT;
	}
	return 0;
}
