// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Which lines of the kernel's log fail a case, and which data races that KCSAN reports are the driver's. */
#include "guest/kernel_log.c"

#define LINE "=================================================================="

static int failures;

/* Whether the race of this report, its lines one after the other, counts as the driver's. */
static void expect(bool of_driver, const char *what, const char *const *lines)
{
	struct race race = { 0 };
	bool seen = false;

	for (; *lines; lines++)
		seen |= !belongs_to_foreign_race(&race, *lines);
	if (seen == of_driver && race.count == !of_driver && !race.open)
		return;
	printf("classified wrongly: %s\n", what);
	failures++;
}

static void expect_line(bool fails, int priority, const char *line, const char *provoked)
{
	if (is_failure(priority, line, provoked) == fails)
		return;
	printf("%s: %s\n", fails ? "does not fail a case" : "fails a case", line);
	failures++;
}

#define REPORT(...) ((const char *const[]){ LINE, "BUG: KCSAN: data-race in a / b", __VA_ARGS__, LINE, NULL })

int main(void)
{
	struct race none = { 0 };

	expect(false, "memory management alone",
	       REPORT("write (marked) to 0x10 of 8 bytes by task 53 on cpu 3:", " wp_page_copy+0x50f/0x5d2",
		      "read to 0x10 of 8 bytes by task 50 on cpu 2:", " __handle_mm_fault+0x23a/0xe91"));
	expect(true, "the driver on the first stack",
	       REPORT("write to 0x10 of 4 bytes by task 53 on cpu 3:", " gdrdrv_push_event+0x50/0x90 [gdrdrv]",
		      "read to 0x10 of 4 bytes by task 50 on cpu 2:", " do_poll+0x23/0xe9"));
	expect(true, "the driver as a caller on the second stack",
	       REPORT("write to 0x10 of 4 bytes by task 53 on cpu 3:", " vm_area_free+0x50/0x90",
		      "read to 0x10 of 4 bytes by task 50 on cpu 2:", " find_vma+0x23/0xe9",
		      " gdrdrv_mmap+0x70/0x82 [gdrdrv]"));
	expect(true, "the fake of NVIDIA's driver",
	       REPORT("read to 0x10 of 4 bytes by task 50 on cpu 2:", " fakegpu_free+0x7e/0x8f [nvidia]"));
	expect(false, "the flush of the TLB, called by the driver",
	       REPORT("race at unknown origin, with read to 0x10 of 8 bytes by task 50 on cpu 0:",
		      " _find_first_and_bit+0x25/0x65", " flush_tlb_mm_range+0xe3/0x143",
		      " zap_page_range_single+0x10/0x20", " gdrdrv_unmap+0x70/0x82 [gdrdrv]"));
	expect(true, "a flush on one stack, the driver on the other",
	       REPORT("write to 0x10 of 8 bytes by task 53 on cpu 3:", " flush_tlb_mm_range+0xe3/0x143",
		      "read to 0x10 of 8 bytes by task 50 on cpu 2:", " gdrdrv_unmap+0x70/0x82 [gdrdrv]"));
	if (belongs_to_foreign_race(&none, "WARNING: possible circular locking dependency detected")) {
		printf("classified wrongly: a warning that is no race\n");
		failures++;
	}
	expect_line(true, 4, "WARNING: CPU: 0 PID: 9 at mm/memory.c:1 vmf_insert_pfn_prot+0x1/0x2", NULL);
	expect_line(true, 6, "BUG: Bad rss-counter state mm:0000 type:MM_SWAPENTS val:-255", NULL);
	expect_line(false, 6, "gdrdrv: version 2.6 of barmap, persistent mode", NULL);
	expect_line(true, 3, "gdrdrv: nvidia.ko gives 1 pages of 2", NULL);
	expect_line(false, 3, "gdrdrv: nvidia.ko gives 1 pages of 2", "gdrdrv: nvidia.ko");
	/* What a host does that leaves no time for the guest. */
	expect_line(false, 4, "clocksource: Long readout interval, skipping watchdog check: cs_nsec: 1 wd_nsec: 2", NULL);
	expect_line(false, 4, "hrtimer: interrupt took 1234567 ns", NULL);
	return failures != 0;
}
