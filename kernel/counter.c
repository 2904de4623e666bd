// SPDX-License-Identifier: MIT OR GPL-2.0
/* /proc/driver/gdrdrv: settings, and counters of what is held and of what has happened. */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "gdrdrv.h"

struct gdrdrv_counters gdrdrv_counters;

static struct proc_dir_entry *folder;

static const char *flavour(void)
{
#ifdef GDRDRV_GPL_SYMBOLS
	return "opensource";
#else
	return "proprietary";
#endif
}

/* The lines of gdrcopy's driver, for scripts that read them. */
static int show_params(struct seq_file *to, void *unused)
{
	seq_printf(to, "Version: %d.%d\n", GDRDRV_VERSION_MAJOR, GDRDRV_VERSION_MINOR);
	seq_printf(to, "Built for NVIDIA driver flavor: %s\n", flavour());
	seq_printf(to, "Use persistent mapping: %s\n", gdrdrv_persistent() ? "yes" : "no");
	return 0;
}

static int show_pages_held(struct seq_file *to, void *unused)
{
	seq_printf(to, "%lld\n", (long long)atomic64_read(&gdrdrv_counters.pages_held));
	return 0;
}

static int show_counters(struct seq_file *to, void *unused)
{
#define SHOW(name) seq_printf(to, #name " %lld\n", (long long)atomic64_read(&gdrdrv_counters.name))
	SHOW(files);
	SHOW(pins);
	SHOW(bytes);
	SHOW(mappings);
	SHOW(pin_objects);
	SHOW(user_objects);
	SHOW(pages_held);
	SHOW(pinned);
	SHOW(refused);
	SHOW(mapped);
	SHOW(faults);
	SHOW(taken_away);
	SHOW(events_lost);
#undef SHOW
	return 0;
}

int gdrdrv_init_counters(void)
{
	folder = proc_mkdir("driver/gdrdrv", NULL);
	if (folder && proc_create_single("params", 0444, folder, show_params) &&
	    proc_create_single("nv_get_pages_refcount", 0444, folder, show_pages_held) &&
	    proc_create_single("counters", 0444, folder, show_counters))
		return 0;
	gdrdrv_remove_counters();
	return -ENOMEM;
}

void gdrdrv_remove_counters(void)
{
	proc_remove(folder);
}
