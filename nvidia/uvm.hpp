// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/rm.hpp"

#include <cstddef>
#include <cstdint>

/// Ioctls of NVIDIA's unified memory driver (/dev/nvidia-uvm), which owns the page tables of CUDA's
/// address space and takes the faults in it: they register a channel, and map an object of RM.
/// Names, numbers and layouts are those of NVIDIA's MIT-licensed open-gpu-kernel-modules
/// (nvidia-uvm/uvm_ioctl.h), compared with driver_data.hpp by a test. An ioctl's number is the
/// command itself: no direction and no size.
namespace barmap::rm::uvm_abi {

inline constexpr unsigned long register_channel = 27;
inline constexpr unsigned long unregister_channel = 28;

struct register_channel_parameters { // UVM_REGISTER_CHANNEL_PARAMS
    std::uint8_t gpu_uuid[16];       ///< as cuDeviceGetUuid gives it
    std::int32_t control_fd;         ///< of the client's /dev/nvidiactl
    abi::handle client;
    abi::handle channel;
    std::uint64_t base;   ///< of a range for the channel's own resources, of which a copy engine's
    std::uint64_t length; ///< channel has none
    std::uint32_t status; ///< out: an NV_STATUS
};

struct unregister_channel_parameters { // UVM_UNREGISTER_CHANNEL_PARAMS since 590
    abi::handle client;
    abi::handle channel;
    std::uint32_t status;
};

struct unregister_channel_parameters_535 { // the same up to 580
    std::uint8_t gpu_uuid[16];
    abi::handle client;
    abi::handle channel;
    std::uint32_t status;
};

inline constexpr unsigned long map_external_allocation = 33;
inline constexpr unsigned long free_range = 34; ///< UVM_FREE
inline constexpr unsigned long create_external_range = 73;

struct create_external_range_parameters { // UVM_CREATE_EXTERNAL_RANGE_PARAMS
    std::uint64_t base, length;
    std::uint32_t status;
};

struct mapping_attributes { // UvmGpuMappingAttributes
    std::uint8_t gpu_uuid[16];
    std::uint32_t mapping_type, caching_type; ///< 0: the default
    std::uint32_t format_type, element_bits, compression_type;
};

/// UVM_MAP_EXTERNAL_ALLOCATION_PARAMS. The driver copies in all of its own, and checks no size.
template <std::size_t most_gpus>
struct map_external_allocation_of {
    std::uint64_t base, length;
    std::uint64_t offset; ///< in the object
    mapping_attributes gpus[most_gpus];
    std::uint64_t gpu_count;
    std::int32_t control_fd;
    abi::handle client;
    abi::handle memory;
    std::uint32_t status;
};
using map_external_allocation_parameters = map_external_allocation_of<256>;    // since 550.40.53
using map_external_allocation_parameters_535 = map_external_allocation_of<32>; // up to 550.40.07

struct free_range_parameters { // UVM_FREE_PARAMS since 590
    std::uint64_t base;
    std::uint32_t status;
};

struct free_range_parameters_535 { // the same up to 580
    std::uint64_t base;
    std::uint64_t length;
    std::uint32_t status;
};

} // namespace barmap::rm::uvm_abi
