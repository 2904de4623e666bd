// SPDX-License-Identifier: MIT
/// barmap for C, and for languages that call C: CPU pointers to GPU memory.
///
/// This interface has a stable ABI: a program that was linked with one libbarmap.so.1 runs with
/// every later one. Its symbols are in the version node of the release that introduced them,
/// structures that programs fill in carry their size, and all handles are opaque.
///
///     barmap_device *gpu;
///     barmap_pin *pin;
///     barmap_mapping *map;
///     double value = 42.0;
///     if (barmap_device_create(0, &gpu) || barmap_pin_allocate(gpu, 4096, &pin) ||
///         barmap_mapping_create(pin, &map))
///         return fprintf(stderr, "%s\n", barmap_error_message()), 1;
///     barmap_mapping_write(map, 0, &value, sizeof value);
///     barmap_mapping_destroy(map);
///     barmap_pin_destroy(pin);
///     barmap_device_destroy(gpu);
///
/// Sizes and offsets are in bytes, GPU addresses those of CUDA (a CUdeviceptr).
///
/// Errors: functions that make a handle, barmap_mapping_copy_to_gpu(), barmap_mapping_copy_to_cpu()
/// and those of batches return 0 or a value of enum barmap_status, and leave a sentence in
/// barmap_error_message(). When one fails, it sets its output to NULL or 0. A NULL that is not
/// allowed gives BARMAP_ERROR_INVALID_ARGUMENT in these functions; functions that free do nothing
/// with it; elsewhere it is the caller's error.
///
/// Ownership: the caller frees each handle, once, in any order: a mapping keeps its pin alive, a
/// pin and a batch queue keep their device. Pinned GPU memory remains its owner's; memory of
/// barmap_pin_allocate() lives as long as its pin and the mappings of it.
///
/// Threads: several threads may use a device, a pin, a batch queue, and a mapping for copies at
/// once; overlapping writes are the caller's race, as with memcpy. Freeing a handle is exclusive.
///
/// fork(): the handles belong to the process that made them. A child may only free them, and
/// ask of a device what <barmap/report.h> says; functions
/// that make a handle return BARMAP_ERROR_FORKED_CHILD there, and mappings are not inherited.
///
/// barmap(3) lists the environment variables (BARMAP_SIM=1: the simulated GPU).
#ifndef BARMAP_BARMAP_H
#define BARMAP_BARMAP_H

#include <barmap/status.h>

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BARMAP_API __attribute__((visibility("default")))
#else
#define BARMAP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barmap_device barmap_device;   ///< one GPU
typedef struct barmap_pin barmap_pin;         ///< a range of GPU memory that the CPU can map
typedef struct barmap_mapping barmap_mapping; ///< CPU addresses of a pin

/// The last failure in this thread, as one sentence: what was attempted, why it failed, and what
/// you can do. "" before the first failure; a success leaves it unchanged.
///
/// Valid until the next call that fails in this thread. Never NULL. Any thread, at any time.
///
///     fprintf(stderr, "%s\n", barmap_error_message());
BARMAP_API char const* barmap_error_message(void);

/// The code that the system, CUDA, Vulkan or NVIDIA's resource manager returned for the last
/// failure in this thread; 0 if barmap itself refused, and before the first failure.
///
///     if (barmap_pin_allocate(gpu, bytes, &pin) == BARMAP_ERROR_CUDA &&
///         barmap_error_cause() == CUDA_ERROR_OUT_OF_MEMORY)
///         free_something();
BARMAP_API int barmap_error_cause(void);

/// The version of the library that is running, for example "0.1.0". Any thread, at any time.
///
///     printf("barmap %s\n", barmap_version());
BARMAP_API char const* barmap_version(void);

/// How many GPUs CUDA shows to this process; 0 without a driver. Any thread.
///
///     for (int ordinal = 0; ordinal < barmap_device_count(); ++ordinal)
BARMAP_API int barmap_device_count(void);

/// Opens a GPU and starts the backends that start quickly. Opening one twice gives two handles of
/// the same GPU. Takes milliseconds the first time. Any thread.
///
/// Uses the calling thread's CUDA context on that GPU if there is one, else the primary context.
/// @param ordinal CUDA's number of the GPU, from 0 on
/// @param out     free it with barmap_device_destroy()
/// @return 0; BARMAP_ERROR_NO_DEVICE; BARMAP_ERROR_BACKEND_ABSENT or _BACKEND_BROKEN if a backend
///         that BARMAP_BACKEND or BARMAP_REQUIRE names, or the copy engine that BARMAP_ENGINE
///         names, is not usable; BARMAP_ERROR_FORKED_CHILD; BARMAP_ERROR_CUDA
///
///     barmap_device *gpu;
///     if (barmap_device_create(0, &gpu) != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_device_create(int ordinal, barmap_device** out);

/// Opens the GPU that owns an address. Otherwise as barmap_device_create().
/// @param gpu_address any address inside memory of a GPU
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for address 0; BARMAP_ERROR_UNSUPPORTED_MEMORY if no
///         GPU owns it; or as barmap_device_create()
///
///     barmap_device_create_from_pointer((uint64_t)cuda_malloc_pointer, &gpu);
BARMAP_API int barmap_device_create_from_pointer(uint64_t gpu_address, barmap_device** out);

/// The GPU's name, for example "NVIDIA H200". Valid as long as the handle. Any thread.
///
///     puts(barmap_device_name(gpu));
BARMAP_API char const* barmap_device_name(barmap_device const* device);

/// Frees the handle. Pins and mappings made through it remain usable. Freeing the last handle of a
/// GPU frees memory with CUDA, which waits for running kernels. NULL: does nothing.
///
///     barmap_device_destroy(gpu);
BARMAP_API void barmap_device_destroy(barmap_device* device);

/// Allocates GPU memory that can be mapped, and pins it. Any thread.
/// @param bytes greater than 0
/// @param out   free it with barmap_pin_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for 0 bytes; BARMAP_ERROR_BACKEND_ABSENT or
///         _BACKEND_BROKEN if no backend is usable; BARMAP_ERROR_UNSUPPORTED_OPERATION;
///         BARMAP_ERROR_FORKED_CHILD; BARMAP_ERROR_CUDA with the driver's out-of-memory
///
///     barmap_pin *pin;
///     barmap_pin_allocate(gpu, 1 << 20, &pin);
///     launch_kernel((void *)barmap_pin_gpu_address(pin));
BARMAP_API int barmap_pin_allocate(barmap_device* device, size_t bytes, barmap_pin** out);

/// Values of barmap_pin_options::flags; combine them with |.
enum barmap_pin_flags {
    /// Widens the range to whole pages of 64 KiB; it may then start or end outside its allocation.
    BARMAP_PIN_WHOLE_PAGES = 1,
    /// Maps through PCIe even where the CPU also has a coherent link to the GPU.
    BARMAP_PIN_FORCE_PCIE = 2
};

/// How to pin. Later versions add members at the end, for which 0 means the previous behaviour. The
/// library accepts structures of older programs, and of newer ones if all unknown members are 0.
typedef struct barmap_pin_options {
    size_t size;         ///< sizeof(barmap_pin_options), as compiled into the program
    char const* backend; ///< name of the backend to use; NULL or "": the first that can
    uint64_t flags;      ///< values of enum barmap_pin_flags
} barmap_pin_options;

/// Pins memory that the caller owns: any address and length inside one allocation, or inside
/// several contiguous VMM chunks. The calling thread needs no CUDA context. Any thread.
///
/// Freeing the memory under a pin is safe with every backend but gdrdrv in callback mode: the pin
/// keeps the physical memory.
/// @param gpu_address on this GPU
/// @param bytes       greater than 0
/// @param or_null     options, or NULL for none
/// @param out         free it with barmap_pin_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT, also for options that this library does not know;
///         BARMAP_ERROR_OUT_OF_RANGE; BARMAP_ERROR_UNSUPPORTED_MEMORY, and the message names memory
///         that can be mapped; BARMAP_ERROR_WRONG_DEVICE; BARMAP_ERROR_BACKEND_ABSENT or
///         _BACKEND_BROKEN; BARMAP_ERROR_UNSUPPORTED_OPERATION if no backend can meet the options;
///         BARMAP_ERROR_FORKED_CHILD; or what the system or the driver reports
///
///     barmap_pin_options how = {.size = sizeof how, .flags = BARMAP_PIN_WHOLE_PAGES};
///     barmap_pin_create(gpu, (uint64_t)cuda_malloc_pointer, bytes, &how, &pin);
BARMAP_API int barmap_pin_create(barmap_device* device, uint64_t gpu_address, size_t bytes,
                                 barmap_pin_options const* or_null, barmap_pin** out);

/// Pins cudaMalloc memory of another process of this machine. It need not be opened with CUDA, and
/// has no GPU address here. The pin keeps the memory if its owner frees it or ends. Any thread.
/// @param handle the 64 bytes of cudaIpcGetMemHandle, valid until the owner frees the memory
/// @param offset of the first byte in the allocation
/// @return as barmap_pin_create(); BARMAP_ERROR_UNSUPPORTED_MEMORY also if no such memory is there
///
///     barmap_pin_create_ipc(gpu, &cuda_ipc_mem_handle, 0, 4096, NULL, &pin);
BARMAP_API int barmap_pin_create_ipc(barmap_device* device, void const* handle, size_t offset,
                                     size_t bytes, barmap_pin_options const* or_null,
                                     barmap_pin** out);

/// Makes a descriptor with which any process of this machine that may open the GPU's device files
/// can open the memory, without CUDA. Its holders may read and write this memory, which stays until
/// the descriptor, and every pin and mapping opened with it, are gone. Any thread.
/// @param descriptor set to a close-on-exec descriptor, which the caller closes; -1 on failure
/// @return 0; BARMAP_ERROR_UNSUPPORTED_OPERATION if the backend cannot share (rm and dmabuf can),
///         or for too many memory objects (more than 4096 with rm, 253 with dmabuf);
///         BARMAP_ERROR_FORKED_CHILD; or what the system or the driver reports
///
///     barmap_pin_share(pin, &descriptor);
BARMAP_API int barmap_pin_share(barmap_pin const* pin, int* descriptor);

/// Opens memory that a process has shared with barmap_pin_share(). Neither needs nor starts CUDA; the
/// pin has no GPU address here. A forked child may open its own. Any thread.
/// @param descriptor remains the caller's, and can be opened any number of times
/// @param out        free it with barmap_pin_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT if barmap_pin_share() did not make the descriptor;
///         BARMAP_ERROR_BACKEND_ABSENT if the GPU is missing; BARMAP_ERROR_UNSUPPORTED_OPERATION if
///         an incompatible version made it; or what the system or the driver reports
///
///     barmap_pin_open_shared(received_descriptor, &pin);
BARMAP_API int barmap_pin_open_shared(int descriptor, barmap_pin** out);

/// The GPU address of the pin's first byte; 0 for memory of another process. Any thread.
///
///     cuMemsetD8(barmap_pin_gpu_address(pin), 0, barmap_pin_size(pin));
BARMAP_API uint64_t barmap_pin_gpu_address(barmap_pin const* pin);

/// The pin's size in bytes, as requested; with BARMAP_PIN_WHOLE_PAGES that of the pages. Any
/// thread.
///
///     assert(barmap_pin_size(pin) == 4096);
BARMAP_API size_t barmap_pin_size(barmap_pin const* pin);

/// Name of the backend that reaches the memory, such as "rm". Valid as long as the pin. Any thread.
///
///     puts(barmap_pin_backend(pin));
BARMAP_API char const* barmap_pin_backend(barmap_pin const* pin);

/// Frees the handle. The memory remains pinned as long as mappings of it are left. Do not call it
/// while another thread uses the handle. NULL: does nothing.
///
///     barmap_pin_destroy(pin);
BARMAP_API void barmap_pin_destroy(barmap_pin* pin);

/// Makes CPU addresses for the whole pin. The first mapping through a backend takes a few
/// milliseconds, in which barmap measures the copy routines. Any thread.
/// @param out free it with barmap_mapping_destroy()
/// @return 0; BARMAP_ERROR_BAR1_EXHAUSTED; BARMAP_ERROR_FORKED_CHILD; or what the system or the
///         driver reports
///
///     barmap_mapping *map;
///     if (barmap_mapping_create(pin, &map) != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_mapping_create(barmap_pin* pin, barmap_mapping** out);

/// The CPU address of the pin's first byte. Plain loads and stores through it reach GPU memory;
/// the fences that order them are in share/doc/barmap/ordering.md, and depend on
/// barmap_mapping_kind(). Valid until barmap_mapping_destroy(). Any thread.
///
///     volatile uint32_t *flag = barmap_mapping_data(map);
BARMAP_API void* barmap_mapping_data(barmap_mapping const* mapping);

/// The mapping's size in bytes, that of its pin. Any thread.
///
///     memset(host_copy, 0, barmap_mapping_size(map));
BARMAP_API size_t barmap_mapping_size(barmap_mapping const* mapping);

/// How the CPU caches a mapping.
enum barmap_cache_kind {
    BARMAP_WRITE_COMBINING = 0, ///< stores are collected and posted; loads go to the GPU every time
    BARMAP_CACHED = 1,          ///< coherent memory
    BARMAP_UNCACHED = 2         ///< ordered; slow
};

/// A value of enum barmap_cache_kind. Any thread.
///
///     bool needs_a_flush = barmap_mapping_kind(map) == BARMAP_WRITE_COMBINING;
BARMAP_API int barmap_mapping_kind(barmap_mapping const* mapping);

/// Frees the CPU addresses. Do not call it while another thread copies through them. NULL: does
/// nothing.
///
///     barmap_mapping_destroy(map);
BARMAP_API void barmap_mapping_destroy(barmap_mapping* mapping);

/// Copies to GPU memory with whatever is fastest for this size and this host memory: stores through
/// the mapping, or a copy engine of the GPU. After it has returned, the rules after
/// barmap_mapping_write() apply. It does not overtake what this thread wrote and posted before. Any
/// thread.
///
/// A copy below 32 KiB is a barmap_mapping_write() with checks. The first larger one starts the
/// GPU's engines and measures them (share/doc/barmap/copy-engine.md). Larger copies may lock, call
/// the driver, and wait: use barmap_mapping_write() in code that must not.
/// @param data host memory: ordinary, or pinned by CUDA; not NULL unless bytes is 0
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_OUT_OF_RANGE if the range leaves the
///         mapping; BARMAP_ERROR_FORKED_CHILD; BARMAP_ERROR_NO_MEMORY;
///         BARMAP_ERROR_COPY_UNFINISHED if an engine failed and could not be stopped: neither side
///         may be used again; or what the driver reports when the engines are started
///
///     if (barmap_mapping_copy_to_gpu(map, 0, weights, sizeof weights) != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_mapping_copy_to_gpu(barmap_mapping const* mapping, size_t offset,
                                          void const* data, size_t bytes);

/// Copies from GPU memory with whatever is fastest: loads through the mapping, or a copy engine. It
/// sees what this thread wrote and posted before, and never delivers a value older than one that
/// this thread has already read. A copy below 1 KiB is a barmap_mapping_read() with checks; else as
/// barmap_mapping_copy_to_gpu(). Any thread.
///
///     if (barmap_mapping_copy_to_cpu(map, result, 0, sizeof result) != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_mapping_copy_to_cpu(barmap_mapping const* mapping, void* data, size_t offset,
                                          size_t bytes);

// The hot path. These functions take no lock, allocate nothing, make no system call and cannot
// fail. They check nothing: the mapping must not be NULL, and the range must lie inside it. Any
// number of threads may copy through one mapping at once.

/// Copies to GPU memory. Its stores leave this CPU before any later store of this thread. An
/// aligned 1, 2, 4 or 8-byte write is one transaction.
/// @pre offset + bytes <= barmap_mapping_size(mapping)
///
///     barmap_mapping_write(map, 0, &job, sizeof job);
BARMAP_API void barmap_mapping_write(barmap_mapping const* mapping, size_t offset, void const* from,
                                     size_t bytes);

/// Copies from GPU memory. Never delivers a value older than one that this thread has already read
/// from the same address. An aligned 1, 2, 4 or 8-byte read is one transaction.
/// @pre offset + bytes <= barmap_mapping_size(mapping)
///
///     barmap_mapping_read(map, &result, 64, sizeof result);
BARMAP_API void barmap_mapping_read(barmap_mapping const* mapping, void* to, size_t offset,
                                    size_t bytes);

/// Stores an aligned word with no fence, as for a doorbell. One transaction; it leaves the CPU at
/// the latest with barmap_flush_stores().
/// @pre barmap_mapping_data() + offset is a multiple of the word's size, and the word lies inside
///
///     barmap_mapping_post32(map, doorbell, sequence);
BARMAP_API void barmap_mapping_post32(barmap_mapping const* mapping, size_t offset, uint32_t value);
/// As barmap_mapping_post32().
///
///     barmap_mapping_post64(map, doorbell, sequence);
BARMAP_API void barmap_mapping_post64(barmap_mapping const* mapping, size_t offset, uint64_t value);

/// Stores an aligned line of 64 bytes with no fence: one transaction if the CPU can make one,
/// otherwise normally one.
/// @param line 64 bytes, with any alignment
/// @pre barmap_mapping_data() + offset is a multiple of 64, and the line lies inside
///
///     barmap_mapping_post_line(map, slot * 64, message);
BARMAP_API void barmap_mapping_post_line(barmap_mapping const* mapping, size_t offset,
                                         void const* line);

/// Makes every earlier store of this thread to a mapping leave the CPU before its later stores.
///
///     barmap_mapping_post64(map, doorbell, sequence);
///     barmap_flush_stores();
BARMAP_API void barmap_flush_stores(void);

/// Makes every later load of this thread from a mapping happen after its earlier loads. For
/// programs that load through barmap_mapping_data(); barmap_mapping_read() does not need it.
///
///     while (*flag == 0)
///         barmap_order_loads();
BARMAP_API void barmap_order_loads(void);

#ifdef __cplusplus
}
#endif

#include <barmap/batch_queue.h>

#endif
