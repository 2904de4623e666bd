// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <cstddef>
#include <cstdint>

/// Functions by which tests control the simulated GPU beside the driver API. The simulated
/// libcuda.so.1 exports them under these names; a program that loads it at run time takes them with
/// dlsym(library, "barmap_sim_object") and so on. All are thread-safe.
extern "C" {

/// The file behind a resource manager object, as named by the client and memory numbers of an IPC
/// handle or of an export. `fd` is borrowed: it stays open as long as the object lives. The object
/// is `size` bytes of the file from `offset` on.
/// @return 0, or -1 if there is no such object
int barmap_sim_object(std::uint32_t client, std::uint32_t memory, int* fd, std::uint64_t* offset,
                      std::uint64_t* size, int* ordinal);

/// Where the memory lies in the file behind a descriptor that the simulated driver of this process
/// exported (of a VMM allocation, a pool or an address range; any duplicate of it will do):
/// exported VMM memory does not start at the file's first byte. `offset` is a multiple of the page
/// size.
/// @return 0, or -1 if it is no such descriptor
int barmap_sim_fd_layout(int fd, std::uint64_t* offset, std::uint64_t* size);

/// The CUDA ordinal of the device that such a descriptor's memory belongs to, or -1.
int barmap_sim_fd_device(int fd);

/// The file and the offset in it of a device address, and how many bytes from there on lie
/// contiguously in that file and belong to the allocation. `fd` is borrowed.
/// @return 0, or -1 if no device memory is there (host and managed memory included)
int barmap_sim_address(CUdeviceptr address, int* fd, std::uint64_t* offset,
                       std::uint64_t* contiguous, int* ordinal);

/// The memory at an address of a device's own address space, for a stand-in of its engines: device
/// memory of that device and of others that it may access, and host memory that is allocated, or
/// registered for it. Managed memory, what has been freed and what may not be accessed are not
/// there. Calls `use` with the file and the offset in it (-1 and 0 for host memory), where this
/// process may reach it, and how many bytes are contiguous there; until that returns, nothing of
/// it is freed or unregistered. It must not call the driver.
/// @return what `use` returns, or -1 if nothing is there
int barmap_sim_reach(int ordinal, CUdeviceptr address,
                     int (*use)(void* argument, int fd, std::uint64_t offset, void* view,
                                std::uint64_t contiguous),
                     void* argument);

/// Makes the call_number-th driver call from now (1 is the next one), of any thread and counted
/// over all cu* functions, answer `code` without doing anything. 0 turns it off.
void barmap_sim_fail(unsigned call_number, CUresult code);

/// Driver calls made so far.
unsigned barmap_sim_calls();

/// Allocations, mapped and unmapped VMM handles, address reservations, pools, imported memory,
/// streams, events, modules, contexts and retains of primary contexts that are alive:
/// what a program that cleans up after itself brings back to where it was.
std::size_t barmap_sim_live();

/// Bytes of BAR1 that the simulated device says it has (BARMAP_SIM_BAR1), or 0 for no such device.
std::uint64_t barmap_sim_bar1_total(int ordinal);

/// The mistake in the BARMAP_SIM_* variables: "NAME=value: why", or null. cuInit fails with it.
char const* barmap_sim_problem();

/// The client number in this process's IPC handles.
std::uint32_t barmap_sim_client();

/// The number that the resource manager knows a device by (in IPC handles), or 0.
std::uint32_t barmap_sim_gpu_id(int ordinal);

/// Gets the UUID that cuDeviceGetUuid gives. @return 0, or -1 for no such device
int barmap_sim_uuid(int ordinal, CUuuid* uuid);

} // extern "C"
