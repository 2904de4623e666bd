// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/ioctl.h>

/// The part of the ioctl interface of NVIDIA's resource manager (RM) that barmap uses. Names,
/// numbers and layouts are those of NVIDIA's MIT-licensed open-gpu-kernel-modules (nv_escape.h,
/// nv-ioctl.h, nv-ioctl-numbers.h, nvos.h, ctrl0000unix.h, ctrl0000gpu.h, ctrl2080fb.h, cl0041.h,
/// cl0080.h, cl2080.h). A test compares them with driver_data.hpp, series by series: a layout is
/// the same in all of them, except where a comment says so.
namespace barmap::rm::abi {

using handle = std::uint32_t;

inline constexpr char ioctl_magic = 'F';

// Escape codes: the ioctl's number.
inline constexpr unsigned esc_rm_free = 0x29;
inline constexpr unsigned esc_rm_control = 0x2a;
inline constexpr unsigned esc_rm_alloc = 0x2b;
inline constexpr unsigned esc_rm_dup_object = 0x34;
inline constexpr unsigned esc_rm_map_memory = 0x4e;
inline constexpr unsigned esc_rm_unmap_memory = 0x4f;
inline constexpr unsigned esc_card_info = 200;
inline constexpr unsigned esc_register_fd = 201;

inline constexpr unsigned esc_export_to_dma_buf_fd = 217;

// Classes.
inline constexpr std::uint32_t class_root_client = 0x41;
inline constexpr std::uint32_t class_device = 0x80;
inline constexpr std::uint32_t class_subdevice = 0x2080;

// Control commands.
inline constexpr std::uint32_t cmd_gpu_get_id_info_v2 = 0x205;
inline constexpr std::uint32_t cmd_import_object_from_fd = 0x3d06;
inline constexpr std::uint32_t cmd_get_export_object_info = 0x3d08;
inline constexpr std::uint32_t cmd_export_objects_to_fd = 0x3d0b;
inline constexpr std::uint32_t cmd_import_objects_from_fd = 0x3d0c;
inline constexpr std::uint32_t cmd_fb_get_info_v2 = 0x20801303;
inline constexpr std::uint32_t cmd_get_surface_info = 0x410110;

// NV_STATUS.
inline constexpr std::uint32_t ok = 0;
inline constexpr std::uint32_t err_insufficient_resources = 0x1a;
inline constexpr std::uint32_t err_invalid_argument = 0x1f;
inline constexpr std::uint32_t err_invalid_param_struct = 0x3a;
inline constexpr std::uint32_t err_no_memory = 0x51;
inline constexpr std::uint32_t err_not_supported = 0x56;

/// Parameters that the driver copies in and out at its own size, whatever the caller's: those of
/// classes, and of the unified memory driver's ioctls. A later driver reads zeros and writes into
/// the room behind them.
template <class Parameters>
struct roomy {
    Parameters parameters{};
    std::byte room[256]{};
};

struct alloc_parameters { // NVOS21_PARAMETERS
    handle root;
    handle parent;
    handle object; ///< 0 asks for a new one
    std::uint32_t object_class;
    std::uint64_t parameters;
    std::uint32_t parameters_size;
    std::uint32_t status;
};

struct free_parameters { // NVOS00_PARAMETERS
    handle root;
    handle parent;
    handle object;
    std::uint32_t status;
};

struct control_parameters { // NVOS54_PARAMETERS
    handle client;
    handle object;
    std::uint32_t command;
    std::uint32_t flags;
    std::uint64_t parameters;
    std::uint32_t parameters_size;
    std::uint32_t status;
};

struct dup_parameters { // NVOS55_PARAMETERS
    handle client;
    handle parent;
    handle object; ///< 0 asks for a new one
    handle source_client;
    handle source_object;
    std::uint32_t flags;
    std::uint32_t status;
};

struct map_parameters { // nv_ioctl_nvos33_parameters_with_fd
    handle client;
    handle device;
    handle memory;
    std::uint64_t offset;
    std::uint64_t length;
    std::uint64_t linear_address; ///< out: what unmapping wants back
    std::uint32_t status;
    std::uint32_t flags;
    std::int32_t fd;
};

struct unmap_parameters { // NVOS34_PARAMETERS
    handle client;
    handle device;
    handle memory;
    std::uint64_t linear_address;
    std::uint32_t status;
    std::uint32_t flags;
};

/// NVOS33_FLAGS_CACHING_TYPE (bits 25:23) = DEFAULT (6): write-combining for video memory behind
/// BAR1, cached where the CPU reaches it by a coherent link.
inline constexpr std::uint32_t map_flags_default_caching = 6u << 23;
/// NVOS33_FLAGS_BUS (bits 21:20) = PCIE (2): by BAR1, even where there is a coherent link.
inline constexpr std::uint32_t map_flags_bus_pcie = 2u << 20;

struct card_info { // nv_ioctl_card_info_t
    std::uint8_t valid;
    std::uint32_t pci_domain;
    std::uint8_t pci_bus, pci_slot, pci_function;
    std::uint16_t vendor_id, device_id;
    std::uint32_t gpu_id;
    std::uint16_t interrupt_line;
    std::uint64_t reg_address, reg_size;
    std::uint64_t fb_address, fb_size; ///< BAR1
    std::uint32_t minor_number;
    std::uint8_t dev_name[10];
};
inline constexpr std::size_t max_cards = 32; ///< NV_MAX_DEVICES

struct register_fd_parameters {
    std::int32_t control_fd;
};

struct device_alloc_parameters { // NV0080_ALLOC_PARAMETERS
    std::uint32_t device_id;     ///< the device instance
    handle client_share;
    handle target_client;
    handle target_device;
    std::uint32_t flags;
    std::uint64_t va_space_size;
    std::uint64_t va_start_internal;
    std::uint64_t va_limit_internal;
    std::uint32_t va_mode;
};

struct subdevice_alloc_parameters { // NV2080_ALLOC_PARAMETERS
    std::uint32_t subdevice_id;
};

struct id_info_parameters { // NV0000_CTRL_GPU_GET_ID_INFO_V2_PARAMS
    std::uint32_t gpu_id;
    std::uint32_t gpu_flags;
    std::uint32_t device_instance;
    std::uint32_t subdevice_instance;
    std::uint32_t sli_status;
    std::uint32_t board_id;
    std::uint32_t gpu_instance;
    std::int32_t numa_id;
};

struct import_object_parameters { // NV0000_CTRL_OS_UNIX_IMPORT_OBJECT_FROM_FD_PARAMS
    std::int32_t fd;
    std::uint32_t type; ///< 1 = an RM object
    handle device;
    handle parent;
    handle object; ///< 0 asks for a new one
};
inline constexpr std::uint32_t export_type_rm = 1;

struct export_object_info { // NV0000_CTRL_OS_UNIX_GET_EXPORT_OBJECT_INFO_PARAMS, since 545
    std::int32_t fd;
    std::uint32_t device_instance;
    std::uint32_t gpu_instance_id;
    std::uint16_t max_objects;
    std::uint8_t metadata[64];
};

struct export_object_info_535 { // the same up to 535
    std::int32_t fd;
    std::uint32_t device_instance;
    std::uint16_t max_objects;
    std::uint8_t metadata[64];
};

inline constexpr std::size_t export_objects_max = 512; ///< in one call

struct export_objects_parameters { // NV0000_CTRL_OS_UNIX_EXPORT_OBJECTS_TO_FD_PARAMS
    std::int32_t fd; ///< a control file that nothing else has used; or one of an earlier call
    handle device;
    std::uint16_t max_objects; ///< in all calls
    std::uint8_t metadata[64];
    handle objects[export_objects_max];
    std::uint16_t count;
    std::uint16_t index; ///< of the first one
};

inline constexpr std::size_t import_objects_max = 128; ///< in one call

struct import_objects_parameters { // NV0000_CTRL_OS_UNIX_IMPORT_OBJECTS_FROM_FD_PARAMS
    std::int32_t fd;
    handle parent;
    handle objects[import_objects_max];     ///< 0 asks for a new one
    std::uint8_t types[import_objects_max]; ///< 0: nothing is there
    std::uint16_t count;
    std::uint16_t index; ///< of the first one
};

struct fb_info {
    std::uint32_t index;
    std::uint32_t data; ///< KiB
};
inline constexpr std::uint32_t fb_info_bar1_size = 0x05;
inline constexpr std::uint32_t fb_info_bar1_avail_size = 0x1d;
inline constexpr std::size_t fb_info_max = 0x80;

/// NV2080_CTRL_FB_GET_INFO_V2_PARAMS. The list has fewer entries before 580.
struct fb_get_info_parameters {
    std::uint32_t count;
    fb_info list[fb_info_max];
};

struct surface_info { // NV0041_CTRL_SURFACE_INFO
    std::uint32_t index;
    std::uint32_t data;
};
inline constexpr std::uint32_t surface_info_physical_size = 7; ///< in units of 4 KiB
inline constexpr std::uint32_t surface_info_address_space = 9;
inline constexpr std::uint32_t address_space_video_memory = 2;

struct surface_info_parameters { // NV0041_CTRL_GET_SURFACE_INFO_PARAMS
    std::uint32_t count;
    std::uint64_t list; ///< address of that many surface_info
};

/// How many objects one export names; libcuda asks again for more.
inline constexpr std::uint32_t export_max_objects = 128;

struct export_to_dma_buf_parameters { // nv_ioctl_export_to_dma_buf_fd_t, since 570
    std::int32_t fd;
    handle client;
    std::uint32_t total_objects;
    std::uint32_t objects; ///< in this call, from `index` of all on
    std::uint32_t index;
    std::uint64_t total_size;
    std::uint8_t mapping_type;
    std::uint8_t allow_mmap; ///< since 580, where padding was
    handle handles[export_max_objects];
    std::uint64_t offsets[export_max_objects];
    std::uint64_t sizes[export_max_objects];
    std::uint32_t status;
};

struct export_to_dma_buf_parameters_535 { // the same up to 550
    std::int32_t fd;
    handle client;
    std::uint32_t total_objects;
    std::uint32_t objects;
    std::uint32_t index;
    std::uint64_t total_size;
    handle handles[export_max_objects];
    std::uint64_t offsets[export_max_objects];
    std::uint64_t sizes[export_max_objects];
    std::uint32_t status;
};

[[nodiscard]] constexpr unsigned long request(unsigned escape, std::size_t size) noexcept {
    return _IOC(_IOC_READ | _IOC_WRITE, static_cast<unsigned long>(ioctl_magic), escape, size);
}

template <class Parameters>
[[nodiscard]] constexpr unsigned long request(unsigned escape) noexcept {
    return request(escape, sizeof(Parameters));
}

} // namespace barmap::rm::abi
