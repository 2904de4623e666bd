// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The PCI device and /dev/fakegpu. */
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/uaccess.h>

#include "fakegpu_memory.h"

static int where(struct fakegpu_where *asked)
{
	struct fakegpu_memory *memory = fakegpu_find(asked->address, 1);

	if (!memory)
		return -EINVAL;
	asked->offset = fakegpu_offset(memory, asked->address);
	asked->physical = fakegpu_bar + asked->offset;
	return 0;
}

static struct {
	void __iomem *at;
	const void *owner;
} mapped;

static int map(const void *owner)
{
	if (mapped.at)
		return -EBUSY;
	mapped.at = ioremap(fakegpu_bar, fakegpu_stats.bar_size);
	mapped.owner = owner;
	return mapped.at ? 0 : -ENOMEM;
}

static void unmap(const void *owner)
{
	if (!mapped.at || mapped.owner != owner)
		return;
	iounmap(mapped.at);
	mapped.at = NULL;
}

static struct pci_dev *gpu;
static struct fakegpu_identity real;

/* pci_get_device() goes by what is written here. */
static void identify(const struct fakegpu_identity *as)
{
	gpu->vendor = as->vendor ? as->vendor : real.vendor;
	gpu->device = as->vendor ? as->device : real.device;
}

union arguments {
	struct fakegpu_alloc alloc;
	struct fakegpu_free free;
	struct fakegpu_where where;
	struct fakegpu_stats stats;
	struct fakegpu_go_wrong go_wrong;
	struct fakegpu_look look;
	struct fakegpu_map map;
	struct fakegpu_plant plant;
	struct fakegpu_fail_call fail_call;
	struct fakegpu_identity identity;
	struct fakegpu_pause pause;
	struct fakegpu_ordinary ordinary;
};

static int run(struct file *filp, unsigned int number, union arguments *with)
{
	switch (number) {
	case FAKEGPU_ALLOC:
		return fakegpu_allocate(filp, &with->alloc);
	case FAKEGPU_FREE:
		return fakegpu_free(filp, with->free.address, with->free.delay_us);
	case FAKEGPU_WHERE:
		return where(&with->where);
	case FAKEGPU_STATS:
		with->stats = fakegpu_stats;
		with->stats.device_references = kref_read(&gpu->dev.kobj.kref);
		return 0;
	case FAKEGPU_GO_WRONG:
		fakegpu_go_wrong(&with->go_wrong);
		return 0;
	case FAKEGPU_MAP:
		return map(filp);
	case FAKEGPU_IDENTIFY:
		identify(&with->identity);
		return 0;
	case FAKEGPU_FORGET:
		fakegpu_forget();
		return 0;
	}
	return -ENOTTY;
}

static long gpu_ioctl(struct file *filp, unsigned int number, unsigned long argument)
{
	union arguments with;
	int result;

	if (_IOC_SIZE(number) > sizeof(with) ||
	    copy_from_user(&with, (void __user *)argument, _IOC_SIZE(number)))
		return -EFAULT;
	if (number == FAKEGPU_LOOK) {
		result = fakegpu_look(&with.look); /* takes the mm's lock, which is above ours */
	} else if (number == FAKEGPU_PLANT) {
		result = fakegpu_plant(&with.plant);
	} else if (number == FAKEGPU_ORDINARY) {
		result = fakegpu_ordinary(&with.ordinary);
	} else if (number == FAKEGPU_FAIL_CALL) {
		result = fakegpu_fail_call(&with.fail_call);
	} else if (number == FAKEGPU_PAUSE) {
		result = fakegpu_pause(&with.pause);
	} else if (number == FAKEGPU_WAIT_PAUSED) {
		result = fakegpu_wait_paused(&with.pause);
	} else {
		mutex_lock(&fakegpu_lock);
		result = run(filp, number, &with);
		mutex_unlock(&fakegpu_lock);
	}
	if (!result && _IOC_DIR(number) & _IOC_READ &&
	    copy_to_user((void __user *)argument, &with, _IOC_SIZE(number)))
		result = -EFAULT;
	return result;
}

/* As at the end of a CUDA context: remaining memory is freed. Every pretence ends, whoever asked for it. */
static int gpu_release(struct inode *inode, struct file *filp)
{
	u64 i;

	fakegpu_fail_call(&(struct fakegpu_fail_call){ .result = 0 });
	for (i = 0; i < FAKEGPU_PAUSES; i++)
		fakegpu_pause(&(struct fakegpu_pause){ .which = i });
	mutex_lock(&fakegpu_lock);
	identify(&(struct fakegpu_identity){ .vendor = 0 });
	fakegpu_free_all(filp);
	unmap(filp);
	mutex_unlock(&fakegpu_lock);
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = gpu_ioctl,
	.release = gpu_release,
};

static struct miscdevice node = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fakegpu",
	.mode = 0666,
	.fops = &operations,
};

static int probe(struct pci_dev *device, const struct pci_device_id *id)
{
	int result = pcim_enable_device(device);

	if (result)
		return result;
	gpu = device;
	real = (struct fakegpu_identity){ .vendor = device->vendor, .device = device->device };
	fakegpu_set_memory(pci_resource_start(device, 2), pci_resource_len(device, 2));
	return misc_register(&node);
}

static void remove(struct pci_dev *device)
{
	misc_deregister(&node);
}

static const struct pci_device_id ids[] = { { PCI_DEVICE(0x1af4, 0x1110) }, {} }; /* ivshmem */
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver fakegpu_driver = {
	.name = "fakegpu",
	.id_table = ids,
	.probe = probe,
	.remove = remove,
};
module_pci_driver(fakegpu_driver);

MODULE_DESCRIPTION("A fake of NVIDIA's driver, for tests of gdrdrv");
MODULE_LICENSE("Dual MIT/GPL");
