// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/rm.hpp"

#include <cstddef>
#include <cstdint>

/// The parts of the resource manager and of the GPU that barmap's channel on a copy engine needs:
/// its address space, memory, the channel, and what is written into it. Names, numbers and layouts
/// are those of NVIDIA's MIT-licensed open-gpu-kernel-modules (nvos.h,
/// nv-unix-nvos-params-wrappers.h, alloc_channel.h, ctrl0080gpu.h, ctrl2080ce.h, ctrla06c.h,
/// ctrla06f/ctrla06fgpfifo.h, ctrlc36f.h, nv-ioctl.h, clc86f.h), which a test compares with
/// driver_data.hpp. The words for a copy engine are in <barmap/gpu/copy_commands.cuh>. A class's
/// parameters are read at the size that the driver knows, so that those here are the longest, with
/// zeros behind what an older driver reads; the parameters of an ioctl must have the driver's own
/// size, hence their variants.
namespace barmap::rm::abi {

inline constexpr unsigned esc_rm_alloc_memory = 0x27;
inline constexpr unsigned esc_rm_map_memory_dma = 0x57;
inline constexpr unsigned esc_rm_unmap_memory_dma = 0x58;
inline constexpr unsigned esc_check_version = 210;

inline constexpr std::uint32_t class_local_memory = 0x40;    ///< NV01_MEMORY_LOCAL_USER
inline constexpr std::uint32_t class_virtual_memory = 0x70;  ///< NV01_MEMORY_VIRTUAL
inline constexpr std::uint32_t class_os_descriptor = 0x71;   ///< NV01_MEMORY_SYSTEM_OS_DESCRIPTOR
inline constexpr std::uint32_t class_address_space = 0x90f1; ///< FERMI_VASPACE_A
inline constexpr std::uint32_t class_channel_group = 0xa06c; ///< KEPLER_CHANNEL_GROUP_A

inline constexpr std::uint32_t cmd_get_handle_info = 0xd02;       // of the client
inline constexpr std::uint32_t cmd_gpu_get_class_list = 0x800201; // of the device
inline constexpr std::uint32_t cmd_ce_get_caps = 0x20802a03;      // of the subdevice
inline constexpr std::uint32_t cmd_set_time_slice = 0xa06c0103;   // of the channel group
inline constexpr std::uint32_t cmd_schedule = 0xa06f0103;         // of the channel
inline constexpr std::uint32_t cmd_get_submit_token = 0xc36f0108; // of the channel

struct version_parameters { // nv_ioctl_rm_api_version_t
    std::uint32_t command;
    std::uint32_t reply;
    char text[64]; ///< out: "580.159.04"
};
inline constexpr std::uint32_t version_query = '2'; ///< says the version and checks none

struct memory_alloc_parameters { // NV_MEMORY_ALLOCATION_PARAMS; 120 bytes up to 535
    std::uint32_t owner, type, flags, width, height;
    std::int32_t pitch;
    std::uint32_t attributes, attributes2, format, compression, zcull, padding;
    std::uint64_t range_low, range_high, size, alignment, offset, limit, address;
    std::uint32_t comptag_offset;
    handle address_space;
    std::uint32_t internal_flags, tag;
    std::int32_t numa_node;
    std::uint32_t end_padding;
};
/// NVOS32_ATTR: PHYSICALITY (28:27) CONTIGUOUS, PAGE_SIZE (24:23) HUGE, LOCATION (26:25) VIDMEM
inline constexpr std::uint32_t attributes_contiguous_huge = 2u << 27 | 3u << 23;
/// NVOS32_ATTR2: PAGE_SIZE_HUGE (21:20) 2MB, GPU_CACHEABLE (3:2) YES
inline constexpr std::uint32_t attributes2_huge_2mb_cacheable = 1u << 20 | 1u << 2;
/// NVOS32_ALLOC_FLAGS: MAP_NOT_REQUIRED | ALIGNMENT_FORCE | IGNORE_BANK_PLACEMENT |
/// PERSISTENT_VIDMEM
inline constexpr std::uint32_t alloc_flags_video_memory = 0x8000 | 0x100 | 0x1 | 0x10000;

struct os_descriptor_parameters { // nv_ioctl_nvos02_parameters_with_fd
    handle root;
    handle parent;
    handle object; ///< of the caller's choice
    std::uint32_t object_class;
    std::uint32_t flags;
    std::uint64_t memory; ///< CPU address, whole pages
    std::uint64_t limit;  ///< size - 1
    std::uint32_t status;
    std::uint32_t padding;
    std::int32_t fd; ///< -1
};
/// NVOS02_FLAGS: PHYSICALITY (7:4) NONCONTIGUOUS, LOCATION (11:8) PCI, COHERENCY (15:12) CACHED,
/// MAPPING (31:30) NO_MAP
inline constexpr std::uint32_t os_descriptor_flags = 0x40001010;

struct address_space_parameters { // NV_VASPACE_ALLOCATION_PARAMETERS; 48 bytes before 580
    std::uint32_t index;          ///< 0: a new one
    std::uint32_t flags;
    std::uint64_t size, start_internal, limit_internal;
    std::uint32_t big_page_size, padding;
    std::uint64_t base;
    std::uint32_t pasid, end_padding;
};

struct virtual_memory_parameters { // NV_MEMORY_VIRTUAL_ALLOCATION_PARAMS
    std::uint64_t offset;
    std::uint64_t limit; ///< 0: all of the address space
    handle address_space;
};

struct map_dma_parameters { // NVOS46_PARAMETERS since 580
    handle client;
    handle device;
    handle dma;
    handle memory;
    std::uint64_t offset;
    std::uint64_t length;
    std::uint32_t flags;
    std::uint32_t flags2;
    std::uint32_t kind_override;
    std::uint64_t address; ///< out
    std::uint32_t status;
};

struct map_dma_parameters_535 { // the same up to 575
    handle client;
    handle device;
    handle dma;
    handle memory;
    std::uint64_t offset;
    std::uint64_t length;
    std::uint32_t flags;
    std::uint64_t address; ///< out
    std::uint32_t status;
};
/// NVOS46_FLAGS: CACHE_SNOOP (4:4) and PAGE_SIZE (11:8) 4KB, for the host's memory
inline constexpr std::uint32_t map_dma_flags_host = 1u << 4 | 1u << 8;

struct unmap_dma_parameters { // NVOS47_PARAMETERS since 550
    handle client;
    handle device;
    handle dma;
    handle memory;
    std::uint32_t flags;
    std::uint64_t address;
    std::uint64_t size; ///< 0: all of the mapping
    std::uint32_t status;
};

struct unmap_dma_parameters_535 { // the same up to 545
    handle client;
    handle device;
    handle dma;
    handle memory;
    std::uint32_t flags;
    std::uint64_t address;
    std::uint32_t status;
};

struct handle_info_parameters { // NV0000_CTRL_CLIENT_GET_HANDLE_INFO_PARAMS
    handle object;
    std::uint32_t index;
    std::uint64_t result; ///< out; a handle or a number
};
inline constexpr std::uint32_t handle_info_class = 2;

struct class_list_parameters { // NV0080_CTRL_GPU_GET_CLASSLIST_PARAMS
    std::uint32_t count;       ///< in: room in the list; with no list, out: how many there are
    std::uint64_t list;        ///< of std::uint32_t
};

struct ce_caps_parameters { // NV2080_CTRL_CE_GET_CAPS_V2_PARAMS
    std::uint32_t engine_type;
    std::uint8_t caps[2];
};
inline constexpr std::uint32_t engine_type_copy0 = 9;     ///< NV2080_ENGINE_TYPE_COPY0, of 10
inline constexpr std::uint32_t engine_type_copy10 = 0x34; ///< and those behind it, since 560
inline constexpr std::uint32_t engine_type_copies = 20;
/// The NV2080_ENGINE_TYPE of a copy engine.
[[nodiscard]] constexpr std::uint32_t engine_type_copy(std::uint32_t number) noexcept {
    constexpr std::uint32_t first_of_second_range = 10;
    return number < first_of_second_range ? engine_type_copy0 + number
                                          : engine_type_copy10 + number - first_of_second_range;
}
// NV2080_CTRL_CE_CAPS_CE, caps[0] in the lower byte
inline constexpr std::uint16_t ce_cap_graphics = 0x01;        ///< GRCE
inline constexpr std::uint16_t ce_cap_shared = 0x02;          ///< SHARED
inline constexpr std::uint16_t ce_cap_host_read = 0x04;       ///< SYSMEM_READ: faster than others
inline constexpr std::uint16_t ce_cap_host_write = 0x08;      ///< SYSMEM_WRITE: faster than others
inline constexpr std::uint16_t ce_cap_nvlink = 0x10;          ///< NVLINK_P2P
inline constexpr std::uint16_t ce_cap_decompression = 0x0800; ///< DECOMP_SUPPORTED
inline constexpr std::uint16_t ce_cap_scrub = 0x4000;         ///< SCRUB

struct channel_group_parameters { // NV_CHANNEL_GROUP_ALLOCATION_PARAMETERS
    handle error_notifier;
    handle ecc_error_notifier;
    handle address_space;
    std::uint32_t engine_type;
    std::uint8_t is_vgpu_plugin;
};

/// NV_CHANNEL_ALLOC_PARAMS, its beginning; RM reads up to 368 bytes (304 up to 525, 360 up to 565).
struct channel_parameters {
    handle error_notifier;
    handle buffer;
    std::uint64_t gpfifo_address;
    std::uint32_t gpfifo_entries;
    std::uint32_t flags;
    handle context_share;
    handle address_space; ///< 0: the channel group's
    handle userd_memory[8];
    std::uint64_t userd_offset[8];
    std::uint32_t engine_type;
    std::uint8_t reserved[236];
};

/// The same from 610 on, 376 bytes. Source: the tables of two other programs that call RM.
struct channel_parameters_610 {
    handle error_notifier;
    handle buffer;
    std::uint64_t gpfifo_address;
    std::uint32_t gpfifo_entries;
    std::uint32_t flags;
    handle context_share;
    handle address_space;
    handle handle_address_space; ///< 0
    handle userd_memory[8];
    std::uint64_t userd_offset[8];
    std::uint32_t engine_type;
    std::uint8_t reserved[236];
};

struct usermode_parameters { // NV_HOPPER_USERMODE_A_PARAMS
    std::uint8_t bar1_mapping;
    std::uint8_t privileged;
};

struct copy_object_parameters { // NVB0B5_ALLOCATION_PARAMETERS
    std::uint32_t version;      ///< 1: engine_type is an NV2080_ENGINE_TYPE
    std::uint32_t engine_type;
};

struct time_slice_parameters { // NVA06C_CTRL_TIMESLICE_PARAMS
    std::uint64_t microseconds;
};

struct schedule_parameters { // NVA06F_CTRL_GPFIFO_SCHEDULE_PARAMS since 575
    std::uint8_t enable, skip_submit, skip_enable;
};

struct schedule_parameters_535 { // the same up to 570
    std::uint8_t enable, skip_submit;
};

struct submit_token_parameters { // NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN_PARAMS
    std::uint32_t token;
};

/// An error notifier, NvNotification: what the driver writes when it stops a channel.
struct notification {
    std::uint64_t time;
    std::uint32_t info32;
    std::uint16_t info16;
    std::uint16_t status; ///< 0xffff: the channel has failed
};

static_assert(sizeof(channel_parameters_610) == 376 &&
              offsetof(channel_parameters_610, userd_memory) == 36 &&
              offsetof(channel_parameters_610, engine_type) == 136);

/// The doorbell in the user-mode page (class ..61): the channel's token is stored there.
inline constexpr std::size_t usermode_doorbell = 0x90;
inline constexpr std::size_t usermode_bytes = 0x10000;

/// Methods that the channel itself executes, not its engine: a semaphore's address (low, high) and
/// payload (low, high), and what to do with it.
inline constexpr std::uint32_t host_subchannel = 0;
inline constexpr std::uint32_t method_channel_semaphore = 0x5c;
inline constexpr std::uint32_t method_channel_semaphore_execute = 0x6c;
/// SEM_EXECUTE: continue when the word equals the payload
inline constexpr std::uint32_t semaphore_acquire = 0;
/// SEM_EXECUTE: let other channels of the engine run meanwhile
inline constexpr std::uint32_t semaphore_acquire_switch = 1u << 12;
/// SEM_EXECUTE: write the payload, without waiting for the engine
inline constexpr std::uint32_t semaphore_release = 1;

} // namespace barmap::rm::abi
