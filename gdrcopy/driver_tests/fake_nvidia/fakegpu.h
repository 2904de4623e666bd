/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * /dev/fakegpu: the CUDA side of the fake nvidia.ko. Its memory is the second BAR of QEMU's ivshmem device,
 * a file of the host's.
 */
#ifndef FAKEGPU_H
#define FAKEGPU_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define FAKEGPU_SCATTERED 0x1 /* no two pages are contiguous */
#define FAKEGPU_CACHEABLE 0x2 /* as if the CPU had a coherent link */
#define FAKEGPU_FIRST_APART 0x4 /* the first page is not right before the second */
#define FAKEGPU_LAST_APART 0x8 /* nor the last one right after the one before */
#define FAKEGPU_SHIFTED 0x10 /* each page starts 4 KiB after a multiple of 64 KiB; the last one ends in memory that others may have */
#define FAKEGPU_RUNS(pages) ((__u64)(pages) << 8) /* upwards, with a hole after that many contiguous ones */

struct fakegpu_alloc {
	__u64 size;
	__u64 flags;
	__u64 address; /* out */
};

struct fakegpu_free {
	__u64 address;
	__u64 delay_us; /* before each callback, under the driver's lock */
};

/* Where a byte of the GPU's address space is in the BAR. */
struct fakegpu_where {
	__u64 address;
	__u64 offset; /* out */
	__u64 physical; /* out */
};

struct fakegpu_stats {
	__u64 tables; /* page tables that were given and not taken back */
	__u64 callbacks;
	__u64 allocations;
	__u64 last_token;
	__u64 last_va_space;
	__u64 last_flags;
	__u64 persistent; /* the last get was */
	__u64 bar; /* its physical address */
	__u64 bar_size;
	__u64 device_references; /* to the PCI device */
};

enum fakegpu_fault {
	FAKEGPU_FAIL_GET = 1, /* value: the error */
	FAKEGPU_VERSION, /* value: that of the next table */
	FAKEGPU_PAGE_SIZE, /* value: enum nvidia_p2p_page_size_type */
	FAKEGPU_SHORT_TABLE, /* one page is missing */
	FAKEGPU_MISALIGNED, /* value: which page does not start at a page of the CPU */
	FAKEGPU_FREE_WHILE_GETTING, /* the callback comes before get_pages returns; value: an error, or 0 */
	FAKEGPU_SLOW_GET, /* value: milliseconds that it takes */
	FAKEGPU_FAIL_PUT, /* value: the error; a table with a callback stays */
	FAKEGPU_FREE_WHILE_PUTTING, /* the callback comes before put_pages returns; value: an error */
};

/* Something that goes wrong in the next call that it concerns. */
struct fakegpu_go_wrong {
	__u64 fault;
	__s64 value;
};

enum fakegpu_memory_type {
	FAKEGPU_UNKNOWN = 0,
	FAKEGPU_WRITE_COMBINING,
	FAKEGPU_WRITE_BACK,
	FAKEGPU_UNCACHED,
};

/* How the caller's page tables map one of its addresses. */
struct fakegpu_look {
	__u64 user_address;
	__u64 present; /* out, as all below */
	__u64 physical;
	__u64 memory_type; /* enum fakegpu_memory_type */
	__u64 size; /* bytes that one entry of the page tables maps here */
};

/* An entry of the caller's page tables that is neither empty nor present nor gdrdrv's. x86-64 alone. */
struct fakegpu_plant {
	__u64 user_address;
	__u64 remove; /* 0: where the entry is empty, otherwise EBUSY; 1: ENOENT if it is not there as it was put there */
};

/* Whether the caller's mapping that has this address seems one of ordinary memory to the kernel. */
struct fakegpu_ordinary {
	__u64 user_address;
	__u64 ordinary; /* 0: as before */
};

/* The driver's own mapping of all the memory, uncached; it ends with the descriptor. */
struct fakegpu_map {
	__u64 reserved;
};

/* A function of the kernel's or of a module's, which is not run from now on, and what its caller gets instead. */
struct fakegpu_fail_call {
	char function[56]; /* none: all are run, as from the closing of any descriptor on */
	__s64 result;
	__u64 after; /* that many calls */
	__u64 calls; /* out: how many were failed by the request before this one */
};

#define FAKEGPU_PAUSES 2

/*
 * The next call of a function, which the caller may sleep in, waits at its start: until the same pause is set for
 * another function or none, as the closing of any descriptor also does.
 */
struct fakegpu_pause {
	char function[56];
	__u64 which; /* below FAKEGPU_PAUSES */
};

/* As what those who look for a PCI device find this one, until any descriptor is closed; 0, 0: as what it is. */
struct fakegpu_identity {
	__u64 vendor, device;
};

#define FAKEGPU_ALLOC _IOWR('G', 1, struct fakegpu_alloc)
#define FAKEGPU_FREE _IOW('G', 2, struct fakegpu_free)
#define FAKEGPU_WHERE _IOWR('G', 3, struct fakegpu_where)
#define FAKEGPU_STATS _IOR('G', 4, struct fakegpu_stats)
#define FAKEGPU_GO_WRONG _IOW('G', 5, struct fakegpu_go_wrong)
#define FAKEGPU_LOOK _IOWR('G', 6, struct fakegpu_look)
#define FAKEGPU_MAP _IOW('G', 7, struct fakegpu_map)
#define FAKEGPU_FAIL_CALL _IOWR('G', 8, struct fakegpu_fail_call) /* EOPNOTSUPP where the kernel cannot */
#define FAKEGPU_IDENTIFY _IOW('G', 9, struct fakegpu_identity)
#define FAKEGPU_FORGET _IO('G', 10) /* the page tables that nobody will put any more */

#define FAKEGPU_PLANT _IOW('G', 11, struct fakegpu_plant)

#define FAKEGPU_PAUSE _IOW('G', 12, struct fakegpu_pause) /* EOPNOTSUPP where the kernel cannot */
#define FAKEGPU_WAIT_PAUSED _IOW('G', 13, struct fakegpu_pause) /* returns when a call waits there */
#define FAKEGPU_ORDINARY _IOW('G', 14, struct fakegpu_ordinary)

#endif /* FAKEGPU_H */
