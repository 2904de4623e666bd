// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Loading and unloading. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "gdrdrv.h"

module_param_named(device_mappings, gdrdrv_device_mappings, bool, 0444);
MODULE_PARM_DESC(device_mappings,
		 "map uncached and in order, for Arm systems that cannot combine writes to PCIe");

module_param_named(max_user_pins, gdrdrv_max_user_pins, ulong, 0644);
MODULE_PARM_DESC(max_user_pins, "how many pins a user may hold at once; 0 (default): any number");
module_param_named(max_user_bytes, gdrdrv_max_user_bytes, ulong, 0644);
MODULE_PARM_DESC(max_user_bytes, "how many bytes a user may pin at once; 0 (default): any number");

#define DRIVER_NAME "gdrdrv"

/*
 * The kernel makes the node of a misc device. Its mode is that of NVIDIA's own nodes; udev's rule narrows it where an
 * administrator wants that. (Other classes of devices are GPL-only.)
 */
static struct miscdevice gdrdrv_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = DRIVER_NAME,
	.mode = 0666,
	.fops = &gdrdrv_file_operations,
};

/*
 * The same device by a major number of its own, in /proc/devices, and the minor number 0 alone. Scripts and modprobe
 * rules of gdrcopy's packages make the node with that.
 */
static int major;

/* BlueField-3 as a host: its PCIe root takes no combined writes. */
static bool __init gdrdrv_is_bluefield_3(void)
{
	static const u16 roots[] = { 0xa2da, 0xa2db };
	unsigned int i;

	if (!IS_ENABLED(CONFIG_ARM64))
		return false;
	for (i = 0; i < ARRAY_SIZE(roots); i++) {
		struct pci_dev *root = pci_get_device(PCI_VENDOR_ID_MELLANOX, roots[i], NULL);

		if (root) {
			pci_dev_put(root);
			return true;
		}
	}
	return false;
}

static int __init gdrdrv_load(void)
{
	int result;

	gdrdrv_device_mappings = gdrdrv_device_mappings || gdrdrv_is_bluefield_3();
	result = gdrdrv_init_counters();
	if (result)
		return result;
	major = __register_chrdev(0, 0, 1, DRIVER_NAME, &gdrdrv_file_operations);
	if (major < 0) {
		result = major;
		goto remove_counters;
	}
	result = misc_register(&gdrdrv_device);
	if (result)
		goto unregister_major;
	pr_info("version %d.%d of barmap, %s mode\n", GDRDRV_VERSION_MAJOR, GDRDRV_VERSION_MINOR,
		gdrdrv_persistent() ? "persistent" : "callback");
	return 0;

unregister_major:
	__unregister_chrdev(major, 0, 1, DRIVER_NAME);
remove_counters:
	gdrdrv_remove_counters();
	return result;
}

static void __exit gdrdrv_unload(void)
{
	s64 held;

	misc_deregister(&gdrdrv_device);
	__unregister_chrdev(major, 0, 1, DRIVER_NAME);
	gdrdrv_remove_counters();
	held = atomic64_read(&gdrdrv_counters.pages_held);
	if (held)
		pr_err("%lld page tables of nvidia.ko were not released\n", held);
}

module_init(gdrdrv_load);
module_exit(gdrdrv_unload);

MODULE_DESCRIPTION("Maps GPU memory into processes (gdrcopy's interface)");
MODULE_AUTHOR("The barmap authors");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION("2.6");
