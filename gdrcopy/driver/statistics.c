// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* /proc/driver/gdrdrv: settings, and counters of objects that exist and of events. */
#include <linux/moduleparam.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "gdrdrv.h"

struct gdrdrv_counters gdrdrv_counters;

static struct proc_dir_entry *proc_directory;

static const char *gdrdrv_flavor(void)
{
#ifdef GDRDRV_GPL_SYMBOLS
	return "opensource";
#else
	return "proprietary";
#endif
}

static int dbg_enabled, info_enabled;
module_param(dbg_enabled, int, 0);
MODULE_PARM_DESC(dbg_enabled, "has no effect, for old scripts; use dynamic debug");
module_param(info_enabled, int, 0);
MODULE_PARM_DESC(info_enabled, "has no effect, for old scripts; use dynamic debug");

/* The lines of gdrcopy's driver, for scripts that read them. */
static int gdrdrv_show_params(struct seq_file *to, void *unused)
{
	seq_printf(to, "Version: %d.%d\n", GDRDRV_VERSION_MAJOR, GDRDRV_VERSION_MINOR);
	seq_printf(to, "Built for NVIDIA driver flavor: %s\n", gdrdrv_flavor());
	seq_printf(to, "Use persistent mapping: %s\n", gdrdrv_persistent() ? "yes" : "no");
	seq_printf(to, "dbg_enabled: %d\n", dbg_enabled);
	seq_printf(to, "info_enabled: %d\n", info_enabled);
	return 0;
}

static int gdrdrv_show_pages_held(struct seq_file *to, void *unused)
{
	seq_printf(to, "%lld\n", (long long)atomic64_read(&gdrdrv_counters.pages_held));
	return 0;
}

static int gdrdrv_show_counters(struct seq_file *to, void *unused)
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
	SHOW(revoked);
	SHOW(events_lost);
#undef SHOW
	return 0;
}

/* Counters show what other users do, so they are for the administrator alone, as gdrcopy's is. */
int gdrdrv_init_counters(void)
{
	proc_directory = proc_mkdir("driver/gdrdrv", NULL);
	if (proc_directory && proc_create_single("params", 0444, proc_directory, gdrdrv_show_params) &&
	    proc_create_single("nv_get_pages_refcount", 0440, proc_directory, gdrdrv_show_pages_held) &&
	    proc_create_single("counters", 0440, proc_directory, gdrdrv_show_counters))
		return 0;
	gdrdrv_remove_counters();
	return -ENOMEM;
}

void gdrdrv_remove_counters(void)
{
	proc_remove(proc_directory);
}
