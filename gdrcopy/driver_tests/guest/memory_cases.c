// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What the kernel does with a mapping besides mapping it, and whom it charges for a pin. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

/* As /proc/PID/smaps names them: I/O, page frames alone, not copied by fork, not grown, not dumped. */
CASE(flags_of_a_mapping, EITHER)
{
	static const char *const wanted[] = { " io", " pf", " dc", " de", " dd" };
	struct pinned one = mapped(GPU_PAGE, 0);
	FILE *file = fopen("/proc/self/smaps", "r");
	unsigned long begin, at = 0;
	char line[512], dash;
	unsigned int i;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx%c", &begin, &dash) == 2 && dash == '-')
			at = begin;
		if (at != (unsigned long)one.words || strncmp(line, "VmFlags:", 8))
			continue;
		for (i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			EXPECT(strstr(line, wanted[i]));
		break;
	}
	if (file)
		fclose(file);
	/* Nor can a program change its mind. */
	EXPECT_EQ(madvise((void *)one.words, one.size, MADV_DOFORK), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(madvise((void *)one.words, one.size, MADV_DODUMP), -1);
	EXPECT_EQ(errno, EINVAL);
}

static void access_by_proc(uint64_t flags)
{
	struct pinned one = mapped(4 * GPU_PAGE, flags);
	size_t begin = GPU_PAGE - 4096 - 3, i, wrong = 0;
	int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	unsigned char bytes[3 * 4096];
	volatile unsigned char *at = (volatile unsigned char *)one.words + begin;

	for (i = 0; i < sizeof(bytes); i++)
		at[i] = (unsigned char)(i * 7);
	EXPECT_EQ(pread(memory, bytes, sizeof(bytes), (off_t)(uintptr_t)at), sizeof(bytes));
	for (i = 0; i < sizeof(bytes); i++)
		wrong += bytes[i] != (unsigned char)(i * 7);
	EXPECT_EQ(wrong, 0);
	memset(bytes, 0xa5, sizeof(bytes));
	at[-1] = at[sizeof(bytes)] = 1;
	EXPECT_EQ(pwrite(memory, bytes, sizeof(bytes), (off_t)(uintptr_t)at), sizeof(bytes));
	for (i = 0; i < sizeof(bytes); i++)
		wrong += at[i] != 0xa5;
	EXPECT_EQ(wrong, 0);
	EXPECT_EQ(at[-1], 1);
	EXPECT_EQ(at[sizeof(bytes)], 1);

	EXPECT_EQ(mprotect((void *)one.words, one.size, PROT_READ), 0);
	EXPECT_EQ(pread(memory, bytes, 8, (off_t)(uintptr_t)at), 8);
	EXPECT_EQ(pwrite(memory, bytes, 8, (off_t)(uintptr_t)at), -1);
	EXPECT_EQ(driver_unpin(one.driver, one.handle), 0);
	EXPECT_EQ(pread(memory, bytes, 8, (off_t)(uintptr_t)at), -1);
	EXPECT_EQ(errno, EIO);
	close(memory);
}

/* As gdb reads and writes, over the ends of pages of either kind. */
CASE(access_by_debuggers, EITHER | DEVICE)
{
	access_by_proc(0);
	access_by_proc(FAKEGPU_SCATTERED);
	access_by_proc(FAKEGPU_CACHEABLE);
}

#define CORE "/tmp/core"

static void crash(void *place)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	struct pinned one = mapped(2 * GPU_PAGE, 0);

	EXPECT_EQ(setrlimit(RLIMIT_CORE, &limit), 0);
	EXPECT_EQ(check_set("/proc/self/coredump_filter", "0x7f"), 0); /* all kinds of mappings */
	check_write(one.words);
	munmap(place, one.size);
	EXPECT(mremap((void *)one.words, one.size, one.size, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
	abort();
}

/* The bytes that the core dump has of this address; -1 if it does not mention it. */
static long bytes_in_core(const void *address)
{
	int core = open(CORE, O_RDONLY | O_CLOEXEC), i;
	long found = -1;
	Elf64_Ehdr head = { 0 };
	Elf64_Phdr part;

	EXPECT_EQ(read(core, &head, sizeof(head)), sizeof(head));
	for (i = 0; i < head.e_phnum; i++)
		if (pread(core, &part, sizeof(part), (off_t)(head.e_phoff + i * sizeof(part))) ==
			    sizeof(part) && part.p_type == PT_LOAD && part.p_vaddr <= (Elf64_Addr)address &&
		    part.p_vaddr + part.p_memsz > (Elf64_Addr)address)
			found = (long)part.p_filesz;
	close(core);
	return found;
}

CASE(core_dumps, EITHER)
{
	static char ordinary = 1;
	void *place = mmap(NULL, 2 * GPU_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (check_set("/proc/sys/kernel/core_pattern", CORE))
		return; /* a kernel that makes none */
	EXPECT_EQ(check_signal_of(crash, place), SIGABRT);
	EXPECT(bytes_in_core(&ordinary) > 0);
	EXPECT_EQ(bytes_in_core(place), 0);
	unlink(CORE);
}

/* swapon() asks the operations of the file's page cache, which here is the descriptor's own, for one. */
CASE(no_swapping_to_the_node, EITHER)
{
	EXPECT_EQ(swapon("/dev/gdrdrv", 0), -1);
	EXPECT(errno == EINVAL || errno == ENOSYS);
}

#define GROUPS "/tmp/groups"
#define PINS 5000

/* The one counts many pages at once, which may be large; the other may lag behind. */
static void charged(long bytes[2])
{
	bytes[0] = check_number(GROUPS "/one/memory.current", NULL);
	bytes[1] = check_number(GROUPS "/one/memory.stat", "slab_unreclaimable");
}

static void pin_in_group(void *argument)
{
	int gpu = gpu_open(), driver = driver_open(), i;
	uint64_t address = gpu_alloc(gpu, GPU_PAGE, 0), handle;
	long before[2], after[2];

	(void)argument;
	EXPECT_EQ(check_set(GROUPS "/one/cgroup.procs", "0"), 0);
	charged(before);
	for (i = 0; i < PINS; i++)
		EXPECT_EQ(driver_pin(driver, address, GPU_PAGE, &handle), 0);
	charged(after);
	EXPECT(after[0] - before[0] > PINS * 100 || after[1] - before[1] > PINS * 100);
}

CASE(pins_are_charged_to_the_control_group, EITHER)
{
	mkdir(GROUPS, 0755);
	if (mount("cgroup2", GROUPS, "cgroup2", 0, NULL))
		return;
	if (!check_set(GROUPS "/cgroup.subtree_control", "+memory")) { /* a kernel that can */
		EXPECT_EQ(mkdir(GROUPS "/one", 0755), 0);
		EXPECT_EQ(check_signal_of(pin_in_group, NULL), 0);
		EXPECT_EQ(rmdir(GROUPS "/one"), 0);
	}
	EXPECT_EQ(umount(GROUPS), 0);
}
