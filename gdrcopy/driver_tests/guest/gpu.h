/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Memory of the fake GPU, and the driver under test. All return 0 or an errno, except where a comment says otherwise. */
#ifndef GUEST_GPU_H
#define GUEST_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "../../driver/gdrdrv_abi.h"
#include "../fake_nvidia/fakegpu.h"

#define GPU_PAGE 65536ul

/* Ends the process if it fails. */
int gpu_open(void);
uint64_t gpu_alloc(int gpu, size_t size, uint64_t flags);

int gpu_free(int gpu, uint64_t address, uint64_t delay_us);
struct fakegpu_where gpu_where(int gpu, uint64_t address);
struct fakegpu_stats gpu_stats(int gpu);
void gpu_go_wrong(int gpu, enum fakegpu_fault fault, int64_t value);
struct fakegpu_look gpu_look(int gpu, const volatile void *at);

/* Puts an entry into the page tables that is not the driver's, and removes it; errors as of FAKEGPU_PLANT. */
int gpu_plant_entry(int gpu, const volatile void *at);
int gpu_remove_entry(int gpu, const volatile void *at);

/* Makes a mapping seem one of ordinary memory to the kernel, or what it is again. */
void gpu_seem_ordinary(int gpu, const volatile void *at, bool ordinary);

/* A function that gives this result from now on, without being run, after that many calls; "": none. */
int gpu_fail_call(int gpu, const char *function, int64_t result, uint64_t after);
uint64_t gpu_failed_calls(int gpu); /* of the last such function; ends it */

/*
 * The next call of a function of the driver's or the kernel's waits at its start, which gpu_wait_paused() waits for,
 * until gpu_continue(); `which` is 0 or 1.
 */
int gpu_pause(int gpu, unsigned int which, const char *function);
void gpu_wait_paused(int gpu, unsigned int which);
void gpu_continue(int gpu, unsigned int which);

/* How many ranges of the GPU's memory the kernel has a memory type for; -1 where that is not known. */
int gpu_memory_types(int gpu);

/* How many mappings of the GPU's memory the kernel has for itself. */
int gpu_kernel_mappings(int gpu);

int module_load(const char *path, const char *parameters);
int module_unload(const char *name);

extern const unsigned long driver_commands[]; /* all; 0 ends them */
int driver_major(void); /* in /proc/devices, or -1 */
int driver_open(void); /* ends the process if it fails */
int driver_call(int driver, unsigned long number, void *arguments);
int driver_pin(int driver, uint64_t address, size_t size, uint64_t *handle);
int driver_unpin(int driver, uint64_t handle);
struct gdrdrv_info_v2_args driver_info(int driver, uint64_t handle);
void *driver_map(int driver, uint64_t handle, size_t size); /* or NULL, with errno */
int driver_callback_flag(int driver, uint64_t handle);

/* One descriptor of each, memory, its pin and mapping; whatever fails is a failure of the case. */
struct pinned {
	int gpu, driver;
	size_t size;
	uint64_t address, handle;
	volatile uint64_t *words; /* NULL if only pinned */
};
struct pinned pinned(size_t size, uint64_t flags);
struct pinned mapped(size_t size, uint64_t flags);

/* At the address that is so many bytes behind a multiple of 2 MiB, which is what one page table of x86-64 maps. */
struct pinned mapped_behind_a_table(size_t size, uint64_t flags, size_t bytes);

/* Every page of the CPU's is where the GPU has it, and mapped in this way (enum fakegpu_memory_type). */
void gpu_expect_pages(const struct pinned *one, uint64_t type);

#endif /* GUEST_GPU_H */
