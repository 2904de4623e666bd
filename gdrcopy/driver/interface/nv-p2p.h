/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The interface of nvidia.ko to other drivers for GPU memory (GPUDirect RDMA), as far as gdrdrv uses it.
 * The build takes the nv-p2p.h of the installed NVIDIA driver where it finds one, and this one
 * elsewhere. Names and order are NVIDIA's, of driver 590 and later: the kernel's symbol versions are
 * computed from them.
 */
#ifndef GDRDRV_INTERFACE_NV_P2P_H
#define GDRDRV_INTERFACE_NV_P2P_H

#include <linux/types.h>

/* The functions with _persistent in their names exist. */
#define NVIDIA_P2P_CAP_GET_PAGES_PERSISTENT_API

enum nvidia_p2p_page_size_type {
	NVIDIA_P2P_PAGE_SIZE_4KB = 0,
	NVIDIA_P2P_PAGE_SIZE_64KB,
	NVIDIA_P2P_PAGE_SIZE_128KB,
	NVIDIA_P2P_PAGE_SIZE_COUNT
};

typedef struct nvidia_p2p_page {
	uint64_t physical_address;
	union nvidia_p2p_request_registers {
		struct {
			uint32_t wreqmb_h;
			uint32_t rreqmb_h;
			uint32_t rreqmb_0;
			uint32_t reserved[3];
		} fermi;
	} registers;
} nvidia_p2p_page_t;

/* The upper half is the layout's number; the lower one counts fields added at its end. */
#define NVIDIA_P2P_PAGE_TABLE_VERSION 0x00020000

/* In flags, which tables of versions 1.3 and 2.0 on have. */
#define NVIDIA_P2P_PAGE_TABLE_FLAGS_CPU_CACHEABLE 0x1

typedef struct nvidia_p2p_page_table {
	uint32_t version;
	uint32_t page_size; /* enum nvidia_p2p_page_size_type */
	struct nvidia_p2p_page **pages;
	uint32_t entries;
	uint8_t *gpu_uuid;
	uint32_t flags;
} nvidia_p2p_page_table_t;

/*
 * Address and length are multiples of 64 KiB. free_callback runs when the memory goes away, under
 * locks of nvidia.ko's; the table is gone after it has returned.
 */
int nvidia_p2p_get_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 uint64_t length, struct nvidia_p2p_page_table **page_table,
			 void (*free_callback)(void *data), void *data);

/*
 * Waits for a callback that is running; 0 also if the callback came first. Without a token, it looks among
 * the tables that the calling process got; it is 0, and nothing is put, if this one is not among them.
 */
int nvidia_p2p_put_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 struct nvidia_p2p_page_table *page_table);

#define NVIDIA_P2P_FLAGS_DEFAULT 0
#define NVIDIA_P2P_FLAGS_FORCE_BAR1_MAPPING 1

/* The memory stays until it is put, whatever becomes of it in CUDA. */
int nvidia_p2p_get_pages_persistent(uint64_t virtual_address, uint64_t length,
				    struct nvidia_p2p_page_table **page_table, uint32_t flags);

int nvidia_p2p_put_pages_persistent(uint64_t virtual_address,
				    struct nvidia_p2p_page_table *page_table, uint32_t flags);

/* To be called by free_callback for its table, and nowhere else. (In the open driver, it does nothing.) */
int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *page_table);

#endif /* GDRDRV_INTERFACE_NV_P2P_H */
