/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Inside the driver. An open descriptor is a gdrdrv_file; it has pins; a pin is mapped by one mmap at a
 * time, whose VMA the kernel may split into several.
 *
 * Locks, from the outside in: tables_lock; locks of nvidia.ko, or the mm's mmap_lock; a pin's lock; the
 * kernel's locks of address space and page tables; the spinlocks of files, callbacks and events. nvidia.ko is
 * never called under a pin's lock, since its callback comes under its own and takes a pin's. Beside these,
 * users_lock has no lock under it, and is taken under locks of nvidia.ko's; and an event queue's readers is outside
 * mmap_lock, since read() copies to user space under it.
 */
#ifndef GDRDRV_H
#define GDRDRV_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/mm_types.h>
#include <linux/poll.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/uidgid.h>

#include "gdrdrv_abi.h"

#undef pr_fmt
#define pr_fmt(fmt) "gdrdrv: " fmt

#define GPU_PAGE_SHIFT 16
#define GPU_PAGE_SIZE (1ul << GPU_PAGE_SHIFT)

struct nvidia_p2p_page_table;

/* A process that runs one program: a forked child is another one, and so is the process after exec. */
struct gdrdrv_process {
	pid_t tgid;
	u64 start_time;
	u64 exec_id;
};

/* The pins and bytes that all descriptors of one user hold together. */
struct gdrdrv_user {
	struct list_head node;
	kuid_t uid;
	refcount_t refs; /* files, and orphaned pins */
	atomic64_t pins;
	atomic64_t bytes;
};

#define GDRDRV_EVENT_CAPACITY 256u

struct gdrdrv_events {
	spinlock_t lock; /* guards all but readers */
	struct mutex readers; /* one at a time, so that none overtakes another */
	wait_queue_head_t wait;
	struct gdrdrv_event *ring; /* NULL if the mode knows no events */
	unsigned int first, count;
	u64 sequence; /* of the last event, lost ones included */
	u64 lost; /* since the last record in the ring */
};

struct gdrdrv_file {
	struct gdrdrv_process owner;
	struct gdrdrv_user *user;
	spinlock_t lock; /* guards the pins' tree and the next handle */
	struct rb_root pins; /* by handle */
	unsigned long next_handle;
	atomic64_t live_pins;
	atomic64_t live_bytes;
	struct address_space mapping; /* this descriptor's alone, to find all that maps a handle */
	struct gdrdrv_events events;
};

enum gdrdrv_pin_state {
	GDRDRV_PIN_NEW, /* nvidia.ko has given no page table yet */
	GDRDRV_PIN_ACTIVE, /* the pin has its page table, and can be mapped */
	GDRDRV_PIN_RELEASED, /* an unpin has unmapped it, and puts its pages or has put them */
	GDRDRV_PIN_ORPHANED, /* nvidia.ko keeps the page table until the memory is freed */
	GDRDRV_PIN_REVOKED, /* nvidia.ko has revoked the memory */
};

struct gdrdrv_pin {
	struct kref refs; /* the file's tree, nvidia.ko's callback, each VMA that maps it */
	struct rb_node node;
	struct gdrdrv_file *file; /* valid while the file's tree has the pin */
	struct gdrdrv_user *user; /* as long as it is charged */
	unsigned long handle;
	u64 va, size; /* whole GPU pages */
	u64 p2p_token;
	u32 va_space;
	bool force_pcie;
	bool whole_pages; /* the caller's address was the start of a GPU page */
	struct hlist_node callback_node; /* in the table of pins that nvidia.ko may call back with */
	unsigned long callback_number; /* what it passes */
	struct nvidia_p2p_page_table *table; /* written by nvidia.ko, under its locks; valid in the state ACTIVE */
	u64 cycles;
	atomic_t vmas;

	struct rw_semaphore lock; /* guards all below */
	enum gdrdrv_pin_state state;
	bool contiguous; /* all its pages are */
	u64 reserved; /* bytes from the start whose physical pages' memory type is reserved */
	u32 requested, mapping; /* enum gdrdrv_mapping; the second one is what VMAs ask the kernel for */
};

/* process.c */
void gdrdrv_remember_process(struct gdrdrv_process *process);
bool gdrdrv_is_current_process(const struct gdrdrv_process *process);
bool gdrdrv_is_current_program(const struct gdrdrv_process *process);
bool gdrdrv_is_exiting_process(const struct gdrdrv_process *process);
struct gdrdrv_user *gdrdrv_user_find(kuid_t uid);
void gdrdrv_user_get(struct gdrdrv_user *user);
void gdrdrv_user_put(struct gdrdrv_user *user);
int gdrdrv_user_charge(struct gdrdrv_user *user, u64 bytes);
void gdrdrv_user_uncharge(struct gdrdrv_user *user, u64 bytes);
extern unsigned long gdrdrv_max_user_pins, gdrdrv_max_user_bytes;

/* file.c */
extern const struct file_operations gdrdrv_file_operations;

/* command.c */
long gdrdrv_ioctl(struct file *filp, unsigned int command, unsigned long argument);

/* pin.c */
int gdrdrv_pin(struct gdrdrv_file *file, const struct gdrdrv_pin_args *asked, u32 flags, u64 *handle);
int gdrdrv_unpin(struct gdrdrv_file *file, u64 handle);
void gdrdrv_unpin_all(struct gdrdrv_file *file);

/* pages.c */
int gdrdrv_get_pages(struct gdrdrv_pin *pin);
bool gdrdrv_put_pages(struct gdrdrv_pin *pin);

/* map.c */
extern bool gdrdrv_device_mappings;
int gdrdrv_request_mapping(struct gdrdrv_pin *pin, u32 mapping);
u32 gdrdrv_mapping_of(struct gdrdrv_pin *pin);
int gdrdrv_mmap(struct file *filp, struct vm_area_struct *vma);
unsigned long gdrdrv_get_unmapped_area(struct file *filp, unsigned long at, unsigned long size,
				       unsigned long offset, unsigned long flags);
void gdrdrv_unmap(struct gdrdrv_pin *pin);

/* provider.c */
bool gdrdrv_persistent(void);
bool gdrdrv_offers_force_pcie(void);
int gdrdrv_check_table(const struct nvidia_p2p_page_table *table, u32 entries, bool *contiguous);
phys_addr_t gdrdrv_page_address(const struct nvidia_p2p_page_table *table, unsigned long index);
bool gdrdrv_table_is_cacheable(const struct nvidia_p2p_page_table *table);

/* handle.c */
int gdrdrv_allocate_handle(struct gdrdrv_file *file, struct gdrdrv_pin *pin);
void gdrdrv_pin_insert(struct gdrdrv_file *file, struct gdrdrv_pin *pin);
struct gdrdrv_pin *gdrdrv_pin_lookup(struct gdrdrv_file *file, u64 handle);
struct gdrdrv_pin *gdrdrv_pin_remove(struct gdrdrv_file *file, u64 handle);
struct gdrdrv_pin *gdrdrv_pin_remove_any(struct gdrdrv_file *file);
void gdrdrv_pin_put(struct gdrdrv_pin *pin);

/* event.c */
int gdrdrv_init_events(struct gdrdrv_events *events);
void gdrdrv_free_events(struct gdrdrv_events *events);
void gdrdrv_push_event(struct gdrdrv_events *events, const struct gdrdrv_pin *pin);
ssize_t gdrdrv_read(struct file *filp, char __user *to, size_t bytes, loff_t *offset);
__poll_t gdrdrv_poll(struct file *filp, struct poll_table_struct *table);

/* statistics.c */
struct gdrdrv_counters {
	atomic64_t files, pins, bytes, mappings; /* now */
	atomic64_t pin_objects, user_objects; /* in memory, which their last reference keeps them in */
	atomic64_t pages_held; /* page tables got from nvidia.ko and not put */
	atomic64_t pinned, refused, mapped, faults, revoked, events_lost; /* since loading */
};
extern struct gdrdrv_counters gdrdrv_counters;
#define gdrdrv_count(what, by) atomic64_add(by, &gdrdrv_counters.what)
int gdrdrv_init_counters(void);
void gdrdrv_remove_counters(void);

#endif /* GDRDRV_H */
