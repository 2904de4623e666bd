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
///     if (barmap_device_create(0, &gpu) || barmap_pin_allocate(gpu, 4096, NULL, &pin) ||
///         barmap_mapping_create(pin, &map))
///         return fprintf(stderr, "%s\n", barmap_error_message()), 1;
///     barmap_mapping_write(map, 0, &value, sizeof value);
///     barmap_mapping_destroy(map);
///     barmap_pin_destroy(pin);
///     barmap_device_destroy(gpu);
///
/// Sizes and offsets are in bytes, GPU addresses those of CUDA (a CUdeviceptr).
///
/// Errors: functions whose comment names statuses return 0 or a value of enum barmap_status, and
/// leave a sentence in barmap_error_message(). When one fails, it sets its output to NULL or 0. A
/// NULL that is not allowed gives BARMAP_ERROR_INVALID_ARGUMENT in these functions; functions that
/// free do nothing with it; elsewhere it is the caller's error. Besides what its comment names,
/// each of them may return BARMAP_ERROR_NO_MEMORY, and each that needs the GPU
/// BARMAP_ERROR_CHECKPOINTED (<barmap/checkpoint.h>).
///
/// Ownership: the caller frees each handle, once, in any order: a mapping keeps its pin alive, a
/// pin and a batch queue keep their device. Pinned GPU memory remains its owner's; memory of
/// barmap_pin_allocate() lives as long as its pin and the mappings of it.
///
/// Threads: several threads may use a device, a pin, a batch queue, and a mapping for copies at
/// once; overlapping writes are the caller's race, as with memcpy. Freeing a handle is exclusive.
///
/// fork(): a child inherits no mapping. In a child of a process that opened a GPU, it may only free
/// the handles that it inherited, and ask a device as <barmap/report.h> allows; functions that
/// need the GPU return BARMAP_ERROR_FORKED_CHILD. The child may use, as any process does, what it
/// opens itself by a descriptor, with barmap_pin_open_shared() and its kind.
///
/// C++: the classes of <barmap/barmap.hpp> call these functions. Where the comment of a member ends
/// with "Contract and errors: barmap_pin_create().", that function's comment here has the rest;
/// <barmap/error.hpp> says how C++ throws a status.
///
/// barmap(3) lists the environment variables (BARMAP_SIM=1: the simulated GPU).
#ifndef BARMAP_BARMAP_H
#define BARMAP_BARMAP_H

#include <barmap/status.h>

#include <stddef.h>
#include <stdint.h>

#if defined(BARMAP_BUILDS_LIBRARY) // whose definitions clang wants to say the same
#define BARMAP_API __attribute__((visibility("default")))
#elif defined(__GNUC__)
#define BARMAP_API __attribute__((visibility("default"), nothrow))
#else
#define BARMAP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barmap_device barmap_device; ///< one GPU
typedef struct barmap_pin barmap_pin;       ///< a range of GPU memory that the CPU can map

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
///     if (barmap_pin_allocate(gpu, bytes, NULL, &pin) == BARMAP_ERROR_CUDA &&
///         barmap_error_cause() == CUDA_ERROR_OUT_OF_MEMORY)
///         free_something();
BARMAP_API int barmap_error_cause(void);

/// The version of the library that is running, for example "0.1.0". Any thread, at any time.
///
///     printf("barmap %s\n", barmap_version());
BARMAP_API char const* barmap_version(void);

/// How many GPUs CUDA shows to this process; 0 if the driver is missing or cannot be loaded. Any
/// thread.
///
///     for (int ordinal = 0; ordinal < barmap_device_count(); ++ordinal)
BARMAP_API int barmap_device_count(void);

/// Opens a GPU, and starts and self-tests the backends that start quickly, which takes milliseconds
/// the first time. Opening one twice gives two handles of the same GPU. Waits for another thread
/// only if that opens the same GPU. Any thread.
///
/// Keep one handle as long as a kernel waits for the CPU: opening a GPU, starting a backend, and
/// freeing the last handle, pin or mapping allocate or free memory with CUDA, which waits for
/// running kernels.
///
/// Uses the calling thread's CUDA context on that GPU if there is one, else the primary context.
/// BARMAP_SIM=1 loads the simulated GPU instead of the driver, BARMAP_BACKEND=NAME allows one
/// backend only, and BARMAP_REQUIRE=NAME,... requires each of these.
/// @param ordinal CUDA's number of the GPU, from 0 on
/// @param out     free it with barmap_device_destroy()
/// @return 0; BARMAP_ERROR_NO_DEVICE; BARMAP_ERROR_INVALID_ARGUMENT if one of barmap's environment
///         variables has a wrong value; BARMAP_ERROR_BACKEND_ABSENT or _BACKEND_BROKEN if a backend
///         that BARMAP_BACKEND or BARMAP_REQUIRE names, or the copy engine that BARMAP_ENGINE
///         names, is not usable; BARMAP_ERROR_FORKED_CHILD in a child of a process that opened a
///         GPU, or tried to; BARMAP_ERROR_CUDA
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

/// Opens the GPU that owns the memory in the pages of 64 KiB that a range touches. Otherwise as
/// barmap_device_create_from_pointer().
/// @return the same; BARMAP_ERROR_INVALID_ARGUMENT also for 0 bytes; BARMAP_ERROR_OUT_OF_RANGE for
///         a page without memory
///
///     barmap_device_create_from_pages((uint64_t)cuda_malloc_pointer, bytes, &gpu);
BARMAP_API int barmap_device_create_from_pages(uint64_t gpu_address, size_t bytes,
                                               barmap_device** out);

/// One more use of a handle: it then takes one more barmap_device_destroy() to free it. Any thread.
/// @return the handle
///
///     barmap_device *mine = barmap_device_retain(gpu);
BARMAP_API barmap_device* barmap_device_retain(barmap_device* device);

/// The GPU's name, for example "NVIDIA H200". Valid as long as the handle. Any thread.
///
///     puts(barmap_device_name(gpu));
BARMAP_API char const* barmap_device_name(barmap_device const* device);

/// Ends one use of the handle, and frees it with the last. Pins and mappings made through it remain
/// usable. NULL: does nothing.
///
///     barmap_device_destroy(gpu);
BARMAP_API void barmap_device_destroy(barmap_device* device);

/// Allocates GPU memory that can be mapped, and pins it. It lives as long as the pin and its
/// mappings. Every context on this GPU may use it; with backend vulkan, only the context that was
/// current, or the primary one. Any thread.
/// @param bytes   greater than 0
/// @param backend name of the backend to use; NULL or "": the first that is usable and allocates
/// @param out     free it with barmap_pin_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for 0 bytes and an unknown backend;
///         BARMAP_ERROR_BACKEND_ABSENT or _BACKEND_BROKEN if no backend is usable, or
///         BARMAP_BACKEND does not allow this one; BARMAP_ERROR_UNSUPPORTED_OPERATION if the
///         backend does not allocate; BARMAP_ERROR_UNSUPPORTED_MEMORY on a MIG device;
///         BARMAP_ERROR_FORKED_CHILD; BARMAP_ERROR_CUDA with the driver's out-of-memory
///
///     barmap_pin *pin;
///     barmap_pin_allocate(gpu, 1 << 20, NULL, &pin);
///     launch_kernel((void *)barmap_pin_gpu_address(pin));
BARMAP_API int barmap_pin_allocate(barmap_device* device, size_t bytes, char const* backend,
                                   barmap_pin** out);

/// Values of barmap_pin_options::flags; combine them with |.
enum barmap_pin_flags {
    /// Widens the range to whole pages of 64 KiB; it may then start or end outside its allocation.
    BARMAP_PIN_WHOLE_PAGES = 1,
    /// Maps through PCIe even where the CPU also has a coherent link to the GPU.
    BARMAP_PIN_FORCE_PCIE = 2,
    /// Makes barmap_pin_event_fd() and barmap_pin_next_event() report when the GPU driver revokes
    /// the memory. Only gdrdrv in callback mode can.
    BARMAP_PIN_EVENTS = 4
};

/// How to pin. Later versions add members at the end, for which 0 means the previous behaviour. The
/// library accepts structures of older programs, and of newer ones if all unknown members are 0.
typedef struct barmap_pin_options {
    size_t size;         ///< sizeof(barmap_pin_options), as compiled into the program
    char const* backend; ///< name of the backend to use; NULL or "": the first that can
    uint64_t flags;      ///< values of enum barmap_pin_flags
    uint64_t p2p_token;  ///< passed to a gdrdrv older than 2.5; otherwise ignored
    uint64_t va_space;   ///< the same; up to 2^32 - 1
} barmap_pin_options;

/// Pins memory that the caller owns: any address and length inside one allocation, or inside
/// several contiguous VMM chunks. The calling thread needs no CUDA context. Any thread.
///
/// Freeing the memory under a pin is safe with every backend but gdrdrv in callback mode: the pin
/// keeps the physical memory.
/// @param gpu_address on this GPU
/// @param bytes       greater than 0
/// @param or_null     options, or NULL for none, which suits every program but those that follow
///                    gdrcopy's rules
/// @param out         free it with barmap_pin_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT, also for an unknown backend, and options that this
///         library does not know; BARMAP_ERROR_OUT_OF_RANGE; BARMAP_ERROR_UNSUPPORTED_MEMORY, and
///         the message names the kind of memory and what to do; BARMAP_ERROR_WRONG_DEVICE;
///         BARMAP_ERROR_BACKEND_ABSENT or _BACKEND_BROKEN if no backend that maps this memory is
///         usable; BARMAP_ERROR_UNSUPPORTED_OPERATION if none can meet the options;
///         BARMAP_ERROR_UNKNOWN_LAYOUT; BARMAP_ERROR_FORKED_CHILD; or what the system or the driver
///         reports
///
///     barmap_pin_options how = {.size = sizeof how, .flags = BARMAP_PIN_WHOLE_PAGES};
///     barmap_pin_create(gpu, (uint64_t)cuda_malloc_pointer, bytes, &how, &pin);
BARMAP_API int barmap_pin_create(barmap_device* device, uint64_t gpu_address, size_t bytes,
                                 barmap_pin_options const* or_null, barmap_pin** out);

/// Pins cudaMalloc memory of another process of this machine. It need not be opened with CUDA, and
/// has no GPU address here. The pin keeps the memory if its owner frees it or ends. Any thread.
/// @param handle the 64 bytes of cudaIpcGetMemHandle of an allocation on this GPU. As with CUDA, it
///               is valid until the owner frees the memory, and may afterwards name other memory,
///               of any process
/// @param offset of the first byte in the allocation
/// @return as barmap_pin_create(); BARMAP_ERROR_UNSUPPORTED_MEMORY also if no such memory is there;
///         BARMAP_ERROR_UNSUPPORTED_OPERATION for whole pages and events
///
///     barmap_pin_create_ipc(gpu, &cuda_ipc_mem_handle, 0, 4096, NULL, &pin);
BARMAP_API int barmap_pin_create_ipc(barmap_device* device, void const* handle, size_t offset,
                                     size_t bytes, barmap_pin_options const* or_null,
                                     barmap_pin** out);

/// Makes a descriptor with which any process of this machine that may open the GPU's device files
/// can open the memory, without CUDA. Pass it on like any other, with SCM_RIGHTS, fork() or
/// pidfd_getfd(); you need to send nothing else. Any thread.
///
/// The descriptor is the permission to read and write this memory: each process that holds it may
/// do both as long as it likes. The memory stays until the descriptor, and every pin and mapping
/// opened with it, are gone, even if this pin and this process end before.
/// @param descriptor set to a close-on-exec descriptor, which the caller closes; -1 on failure
/// @return 0; BARMAP_ERROR_UNSUPPORTED_OPERATION if the backend cannot share (rm and dmabuf can),
///         or for too many memory objects (more than 4096 with rm, 253 with dmabuf);
///         BARMAP_ERROR_FORKED_CHILD; or what the system or the driver reports
///
///     barmap_pin_share(pin, &descriptor);
BARMAP_API int barmap_pin_share(barmap_pin const* pin, int* descriptor);

/// Opens memory that a process has shared with barmap_pin_share(). Needs neither CUDA nor a CUDA
/// context, and starts neither; a forked child may open its own. Any thread.
///
/// The pin has no GPU address here. You can map it, and share it further. It keeps the memory even
/// if the descriptor is closed and the process that shared it ends.
/// @param descriptor remains the caller's, and can be opened any number of times
/// @param out        free it with barmap_pin_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT if barmap_pin_share() did not make the descriptor;
///         BARMAP_ERROR_BACKEND_ABSENT if the GPU or its device files are missing;
///         BARMAP_ERROR_UNSUPPORTED_MEMORY, _OUT_OF_RANGE or _WRONG_DEVICE if a process has changed
///         what the descriptor says; BARMAP_ERROR_UNSUPPORTED_OPERATION if an incompatible version
///         of barmap made it, or for a simulated GPU's memory without BARMAP_SIM=1; or what the
///         system or the driver reports
///
///     barmap_pin_open_shared(received_descriptor, &pin);
BARMAP_API int barmap_pin_open_shared(int descriptor, barmap_pin** out);

/// The GPU address of the pin's first byte, a CUdeviceptr; with BARMAP_PIN_WHOLE_PAGES that of its
/// page. 0 for memory of another process. Any thread.
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

/// Kinds of memory, which decide what can map it.
enum barmap_memory_kind {
    BARMAP_MEMORY_DEVICE = 0,             ///< cudaMalloc, cuMemAlloc
    BARMAP_MEMORY_VIRTUAL_EXPORTABLE = 1, ///< cuMemCreate with a POSIX-fd handle type, mapped
    BARMAP_MEMORY_VIRTUAL_OPAQUE = 2,     ///< the same without an exportable handle type
    BARMAP_MEMORY_POOL = 3,               ///< cudaMallocAsync, of a pool without handle types
    BARMAP_MEMORY_POOL_EXPORTABLE = 4,    ///< the same, of a pool with POSIX-fd handles
    BARMAP_MEMORY_GRAPH = 5,              ///< a memory node of a CUDA graph
    BARMAP_MEMORY_ALLOCATED = 6,          ///< barmap_pin_allocate()
    BARMAP_MEMORY_IMPORTED = 7,           ///< of another process or another API
    BARMAP_MEMORY_MANAGED = 8,            ///< cudaMallocManaged
    BARMAP_MEMORY_HOST = 9,               ///< pinned or registered host memory
    BARMAP_MEMORY_UNKNOWN = 10            ///< no live CUDA allocation is there
};

/// The kind of the pinned memory: a value of enum barmap_memory_kind. Any thread.
///
///     bool is_ours = barmap_pin_memory_kind(pin) == BARMAP_MEMORY_ALLOCATED;
BARMAP_API int barmap_pin_memory_kind(barmap_pin const* pin);

/// Whether the GPU driver has revoked the memory, so that accesses to its mappings fault. Only
/// gdrdrv in callback mode allows this; all other backends keep the memory until it is unpinned.
/// Any thread.
/// @param revoked set to 1 or 0
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_FORKED_CHILD; or what gdrdrv reports
///
///     barmap_pin_revoked(pin, &revoked);
BARMAP_API int barmap_pin_revoked(barmap_pin const* pin, int* revoked);

/// A descriptor for poll(), select() and epoll, of a pin with BARMAP_PIN_EVENTS: readable when
/// barmap_pin_next_event() will return an event. The pin owns it: do not read or close it. In a
/// forked child it reports POLLERR. Any thread.
/// @param descriptor set to it; -1 on failure
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for a pin without events
///
///     barmap_pin_event_fd(pin, &descriptor);
BARMAP_API int barmap_pin_event_fd(barmap_pin const* pin, int* descriptor);

/// The GPU driver has revoked memory of a pin. The structure never changes.
typedef struct barmap_pin_event {
    uint64_t gpu_address; ///< of the part of the pin that is gone
    uint64_t size;        ///< bytes of it
    uint64_t sequence;    ///< counts the pin's events from 1, lost ones included
    uint64_t lost;        ///< if not 0: that many were lost, and the range is the whole pin's
} barmap_pin_event;

/// The oldest event that was not read yet, of a pin with BARMAP_PIN_EVENTS. Never waits. Once an
/// event is delivered, no mapping of the pin reaches that memory any more: touching it raises
/// SIGBUS. A range of several allocations has an event for each. Any thread.
/// @param event set to it
/// @param found set to 1, or to 0 if there is none
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for a pin without events; BARMAP_ERROR_FORKED_CHILD; or
///         what gdrdrv reports
///
///     while (barmap_pin_next_event(pin, &event, &found) == BARMAP_OK && found)
///         forget(event.gpu_address, event.size);
BARMAP_API int barmap_pin_next_event(barmap_pin const* pin, barmap_pin_event* event, int* found);

/// Frees the handle. The memory remains pinned as long as mappings of it are left. Do not call it
/// while another thread uses the handle. NULL: does nothing.
///
///     barmap_pin_destroy(pin);
BARMAP_API void barmap_pin_destroy(barmap_pin* pin);

#ifdef __cplusplus
}
#endif

#include <barmap/mapping.h>

#include <barmap/batch_queue.h>

#endif
