/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The interface of /dev/gdrdrv: the ioctls of gdrdrv 2.0 to 2.6, and those of barmap's driver.
 *
 * The numbers and layouts up to 8, and of 255, are those of gdrcopy's driver, so that its library works
 * on this one. Several of those commands encode the size of a pointer instead of that of their struct,
 * and some structs end in padding: that is the ABI. Commands from 64 on are this driver's own: fixed in
 * size, without pointers, and reserved fields must be 0.
 */
#ifndef GDRDRV_ABI_H
#define GDRDRV_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GDRDRV_VERSION_MAJOR 2
#define GDRDRV_VERSION_MINOR 6
#define GDRDRV_ABI_VERSION ((GDRDRV_VERSION_MAJOR << 16) | GDRDRV_VERSION_MINOR)
#define GDRDRV_ABI_OLDEST_LIBRARY (2 << 16)

#define GDRDRV_MAGIC 0xda

/* How the CPU sees a mapping. */
enum gdrdrv_mapping {
	GDRDRV_MAPPING_NONE = 0, /* not mapped; as a request: the driver's choice */
	GDRDRV_MAPPING_WRITE_COMBINING = 1,
	GDRDRV_MAPPING_CACHED = 2,
	GDRDRV_MAPPING_DEVICE = 3, /* uncached, in order */
};

enum gdrdrv_attribute {
	GDRDRV_ATTRIBUTE_PERSISTENT = 1,
	GDRDRV_ATTRIBUTE_FORCE_PCIE = 2,
};

/* Through BAR1 even where the CPU has a coherent link to the GPU. */
#define GDRDRV_PIN_FORCE_PCIE 0x1

struct gdrdrv_pin_args {
	__u64 address;
	__u64 size;
	__u64 p2p_token;
	__u32 va_space;
	__u64 handle; /* out */
};

struct gdrdrv_unpin_args {
	__u64 handle;
};

struct gdrdrv_callback_flag_args {
	__u64 handle;
	__u32 flag; /* out: 1 after the GPU driver revoked the memory */
};

struct gdrdrv_info_args {
	__u64 handle;
	__u64 va; /* out, as all below: the pinned range in whole GPU pages */
	__u64 mapped_size;
	__u32 page_size;
	__u32 tsc_khz;
	__u64 tm_cycles; /* time of pinning in the GPU driver, in CPU cycles */
	__u32 mapped;
	__u32 write_combining;
};

struct gdrdrv_info_v2_args {
	__u64 handle;
	__u64 va; /* out, as all below */
	__u64 mapped_size;
	__u32 page_size;
	__u32 tsc_khz;
	__u64 tm_cycles;
	__u32 mapping; /* enum gdrdrv_mapping */
};

struct gdrdrv_attribute_args {
	__u32 attribute;
	__u32 value; /* out */
};

struct gdrdrv_pin_v2_args {
	__u64 address;
	__u64 size;
	__u32 flags;
	__u32 pad;
	__u64 handle; /* out */
};

struct gdrdrv_request_mapping_args {
	__u64 handle;
	__u32 mapping;
};

struct gdrdrv_version_args {
	__u32 driver; /* out */
	__u32 oldest_library; /* out */
};

#define GDRDRV_PIN _IOWR(GDRDRV_MAGIC, 1, struct gdrdrv_pin_args)
#define GDRDRV_UNPIN _IOWR(GDRDRV_MAGIC, 2, void *)
#define GDRDRV_GET_CALLBACK_FLAG _IOWR(GDRDRV_MAGIC, 3, void *)
#define GDRDRV_GET_INFO _IOWR(GDRDRV_MAGIC, 4, void *)
#define GDRDRV_GET_INFO_V2 _IOWR(GDRDRV_MAGIC, 5, void *)
#define GDRDRV_GET_ATTRIBUTE _IOWR(GDRDRV_MAGIC, 6, void *)
#define GDRDRV_PIN_V2 _IOWR(GDRDRV_MAGIC, 7, struct gdrdrv_pin_v2_args)
#define GDRDRV_REQUEST_MAPPING _IOWR(GDRDRV_MAGIC, 8, void *)
#define GDRDRV_GET_VERSION _IOWR(GDRDRV_MAGIC, 255, void *)

/* This driver's own; a stock gdrdrv returns ENOTTY for them. */

#define GDRDRV_FEATURE_EVENTS 0x1 /* read() and poll() deliver struct gdrdrv_event */
#define GDRDRV_FEATURE_PERSISTENT 0x2 /* pins outlive cuMemFree; then there are no events */
#define GDRDRV_FEATURE_FORCE_PCIE 0x4

struct gdrdrv_features_args {
	__u64 reserved; /* in: 0 */
	__u64 features; /* out, as all below */
	__u32 event_size; /* bytes of a record */
	__u32 event_capacity; /* records that wait unread before one is lost */
};

/* Held by the calling process through this descriptor, and by its user through all. */
struct gdrdrv_usage_args {
	__u64 reserved; /* in: 0 */
	__u64 pins; /* out, as all below */
	__u64 bytes;
	__u64 user_pins;
	__u64 user_bytes;
	__u64 max_user_pins; /* 0: no limit */
	__u64 max_user_bytes; /* 0: no limit */
};

#define GDRDRV_GET_FEATURES _IOWR(GDRDRV_MAGIC, 64, struct gdrdrv_features_args)
#define GDRDRV_GET_USAGE _IOWR(GDRDRV_MAGIC, 65, struct gdrdrv_usage_args)

enum gdrdrv_event_reason {
	GDRDRV_EVENT_REVOKED = 1, /* the GPU driver revoked the memory: it was freed, or its context ended */
	GDRDRV_EVENT_OVERFLOW = 2, /* size events were lost here; handle and va are 0 */
};

/*
 * The records of read(), which delivers them whole. Sequence counts events from 1 on each descriptor, those that
 * were lost included; an overflow record carries the number of the last one lost.
 */
struct gdrdrv_event {
	__u64 handle;
	__u32 reason; /* enum gdrdrv_event_reason */
	__u32 reserved; /* 0 */
	__u64 va; /* the pinned range in whole GPU pages */
	__u64 size;
	__u64 sequence;
};

#endif /* GDRDRV_ABI_H */
