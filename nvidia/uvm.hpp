// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/rm.hpp"

#include <cstddef>
#include <cstdint>

/// The ioctls that register a channel with NVIDIA's unified memory driver (/dev/nvidia-uvm), which
/// owns the page tables of CUDA's address space and takes the faults in it. Names, numbers and
/// layouts are those of NVIDIA's MIT-licensed open-gpu-kernel-modules (nvidia-uvm/uvm_ioctl.h),
/// compared with driver_data.hpp by a test. An ioctl's number is the command itself: no direction
/// and no size.
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

} // namespace barmap::rm::uvm_abi
