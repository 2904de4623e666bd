// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Which data races that KCSAN reports are the driver's: what guest/kernel_log.c makes of them. */
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
	printf("not judged right: %s\n", what);
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
		printf("not judged right: a warning that is no race\n");
		failures++;
	}
	return failures != 0;
}
