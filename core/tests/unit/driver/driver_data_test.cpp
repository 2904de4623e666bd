// SPDX-License-Identifier: MIT
// Each structure that barmap sends has the size and the offsets that NVIDIA's headers give it in
// each series, and each number is theirs.
#include "nvidia/channel.hpp"
#include "driver/rm/driver_series.hpp"
#include "nvidia/rm.hpp"
#include "nvidia/uvm.hpp"

#include <barmap/report.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::rm {
namespace {

struct field {
    std::string_view name;
    std::size_t offset;
};

/// What barmap has of a structure, from one series to another.
struct layout {
    std::string_view structure;
    std::size_t size;
    std::vector<field> fields;
    unsigned first = 0, last = ~0u;
    /// RM copies a class's parameters at its own size: barmap's are as long as the longest.
    bool is_of_a_class = false;
};

// clang-format off
std::vector<layout> layouts() {
    using namespace abi;
    using namespace uvm_abi;
#define F(structure, theirs, ours) {theirs, offsetof(structure, ours)}
    return {
        {"NVOS00_PARAMETERS", sizeof(free_parameters),
         {F(free_parameters, "hRoot", root), F(free_parameters, "hObjectParent", parent),
          F(free_parameters, "hObjectOld", object), F(free_parameters, "status", status)}},
        {"NVOS21_PARAMETERS", sizeof(alloc_parameters),
         {F(alloc_parameters, "hRoot", root), F(alloc_parameters, "hObjectParent", parent),
          F(alloc_parameters, "hObjectNew", object), F(alloc_parameters, "hClass", object_class),
          F(alloc_parameters, "pAllocParms", parameters),
          F(alloc_parameters, "paramsSize", parameters_size),
          F(alloc_parameters, "status", status)}},
        {"NVOS34_PARAMETERS", sizeof(unmap_parameters),
         {F(unmap_parameters, "hClient", client), F(unmap_parameters, "hDevice", device),
          F(unmap_parameters, "hMemory", memory),
          F(unmap_parameters, "pLinearAddress", linear_address),
          F(unmap_parameters, "status", status), F(unmap_parameters, "flags", flags)}},
        {"NVOS46_PARAMETERS", sizeof(map_dma_parameters_535),
         {F(map_dma_parameters_535, "hClient", client), F(map_dma_parameters_535, "hDma", dma),
          F(map_dma_parameters_535, "hMemory", memory),
          F(map_dma_parameters_535, "offset", offset), F(map_dma_parameters_535, "length", length),
          F(map_dma_parameters_535, "flags", flags),
          F(map_dma_parameters_535, "dmaOffset", address),
          F(map_dma_parameters_535, "status", status)}, 0, 575},
        {"NVOS46_PARAMETERS", sizeof(map_dma_parameters),
         {F(map_dma_parameters, "hClient", client), F(map_dma_parameters, "hDma", dma),
          F(map_dma_parameters, "hMemory", memory), F(map_dma_parameters, "offset", offset),
          F(map_dma_parameters, "length", length), F(map_dma_parameters, "flags", flags),
          F(map_dma_parameters, "dmaOffset", address), F(map_dma_parameters, "status", status)},
         580},
        {"NVOS47_PARAMETERS", sizeof(unmap_dma_parameters_535),
         {F(unmap_dma_parameters_535, "hDma", dma), F(unmap_dma_parameters_535, "hMemory", memory),
          F(unmap_dma_parameters_535, "dmaOffset", address),
          F(unmap_dma_parameters_535, "status", status)}, 0, 545},
        {"NVOS47_PARAMETERS", sizeof(unmap_dma_parameters),
         {F(unmap_dma_parameters, "hDma", dma), F(unmap_dma_parameters, "hMemory", memory),
          F(unmap_dma_parameters, "dmaOffset", address), F(unmap_dma_parameters, "status", status)},
         550},
        {"NVOS54_PARAMETERS", sizeof(control_parameters),
         {F(control_parameters, "hClient", client), F(control_parameters, "hObject", object),
          F(control_parameters, "cmd", command), F(control_parameters, "flags", flags),
          F(control_parameters, "params", parameters),
          F(control_parameters, "paramsSize", parameters_size),
          F(control_parameters, "status", status)}},
        {"NVOS55_PARAMETERS", sizeof(dup_parameters),
         {F(dup_parameters, "hClient", client), F(dup_parameters, "hParent", parent),
          F(dup_parameters, "hObject", object), F(dup_parameters, "hClientSrc", source_client),
          F(dup_parameters, "hObjectSrc", source_object), F(dup_parameters, "flags", flags),
          F(dup_parameters, "status", status)}},
        {"nv_ioctl_nvos02_parameters_with_fd", sizeof(os_descriptor_parameters),
         {F(os_descriptor_parameters, "params.hRoot", root),
          F(os_descriptor_parameters, "params.hObjectParent", parent),
          F(os_descriptor_parameters, "params.hObjectNew", object),
          F(os_descriptor_parameters, "params.hClass", object_class),
          F(os_descriptor_parameters, "params.flags", flags),
          F(os_descriptor_parameters, "params.pMemory", memory),
          F(os_descriptor_parameters, "params.limit", limit),
          F(os_descriptor_parameters, "params.status", status),
          F(os_descriptor_parameters, "fd", fd)}},
        {"nv_ioctl_nvos33_parameters_with_fd", sizeof(map_parameters),
         {F(map_parameters, "params.hClient", client), F(map_parameters, "params.hDevice", device),
          F(map_parameters, "params.hMemory", memory), F(map_parameters, "params.offset", offset),
          F(map_parameters, "params.length", length),
          F(map_parameters, "params.pLinearAddress", linear_address),
          F(map_parameters, "params.status", status), F(map_parameters, "params.flags", flags),
          F(map_parameters, "fd", fd)}},
        {"nv_ioctl_card_info_t", sizeof(card_info),
         {F(card_info, "valid", valid), F(card_info, "pci_info.domain", pci_domain),
          F(card_info, "pci_info.bus", pci_bus), F(card_info, "pci_info.slot", pci_slot),
          F(card_info, "gpu_id", gpu_id), F(card_info, "fb_size", fb_size),
          F(card_info, "minor_number", minor_number)}},
        {"nv_ioctl_register_fd_t", sizeof(register_fd_parameters),
         {F(register_fd_parameters, "ctl_fd", control_fd)}},
        {"nv_ioctl_rm_api_version_t", sizeof(version_parameters),
         {F(version_parameters, "cmd", command), F(version_parameters, "reply", reply),
          F(version_parameters, "versionString", text)}},
        {"nv_ioctl_export_to_dma_buf_fd_t", sizeof(export_to_dma_buf_parameters_535),
         {F(export_to_dma_buf_parameters_535, "hClient", client),
          F(export_to_dma_buf_parameters_535, "totalObjects", total_objects),
          F(export_to_dma_buf_parameters_535, "numObjects", objects),
          F(export_to_dma_buf_parameters_535, "index", index),
          F(export_to_dma_buf_parameters_535, "handles", handles),
          F(export_to_dma_buf_parameters_535, "offsets", offsets),
          F(export_to_dma_buf_parameters_535, "sizes", sizes),
          F(export_to_dma_buf_parameters_535, "status", status)}, 0, 565},
        {"nv_ioctl_export_to_dma_buf_fd_t", sizeof(export_to_dma_buf_parameters),
         {F(export_to_dma_buf_parameters, "hClient", client),
          F(export_to_dma_buf_parameters, "totalObjects", total_objects),
          F(export_to_dma_buf_parameters, "numObjects", objects),
          F(export_to_dma_buf_parameters, "index", index),
          F(export_to_dma_buf_parameters, "handles", handles),
          F(export_to_dma_buf_parameters, "offsets", offsets),
          F(export_to_dma_buf_parameters, "sizes", sizes),
          F(export_to_dma_buf_parameters, "status", status)}, 570},
        {"NV0000_CTRL_CLIENT_GET_HANDLE_INFO_PARAMS", sizeof(handle_info_parameters),
         {F(handle_info_parameters, "hObject", object), F(handle_info_parameters, "index", index),
          F(handle_info_parameters, "data", result)}},
        {"NV0000_CTRL_GPU_GET_ID_INFO_V2_PARAMS", sizeof(id_info_parameters),
         {F(id_info_parameters, "gpuId", gpu_id),
          F(id_info_parameters, "deviceInstance", device_instance),
          F(id_info_parameters, "subDeviceInstance", subdevice_instance)}},
        {"NV0000_CTRL_OS_UNIX_EXPORT_OBJECTS_TO_FD_PARAMS", sizeof(export_objects_parameters),
         {F(export_objects_parameters, "fd", fd), F(export_objects_parameters, "hDevice", device),
          F(export_objects_parameters, "maxObjects", max_objects),
          F(export_objects_parameters, "metadata", metadata),
          F(export_objects_parameters, "objects", objects),
          F(export_objects_parameters, "numObjects", count),
          F(export_objects_parameters, "index", index)}},
        {"NV0000_CTRL_OS_UNIX_GET_EXPORT_OBJECT_INFO_PARAMS", sizeof(export_object_info_535),
         {F(export_object_info_535, "deviceInstance", device_instance),
          F(export_object_info_535, "maxObjects", max_objects),
          F(export_object_info_535, "metadata", metadata)}, 0, 535},
        {"NV0000_CTRL_OS_UNIX_GET_EXPORT_OBJECT_INFO_PARAMS", sizeof(export_object_info),
         {F(export_object_info, "deviceInstance", device_instance),
          F(export_object_info, "maxObjects", max_objects),
          F(export_object_info, "metadata", metadata)}, 545},
        {"NV0000_CTRL_OS_UNIX_IMPORT_OBJECTS_FROM_FD_PARAMS", sizeof(import_objects_parameters),
         {F(import_objects_parameters, "fd", fd), F(import_objects_parameters, "hParent", parent),
          F(import_objects_parameters, "objects", objects),
          F(import_objects_parameters, "objectTypes", types),
          F(import_objects_parameters, "numObjects", count),
          F(import_objects_parameters, "index", index)}},
        {"NV0000_CTRL_OS_UNIX_IMPORT_OBJECT_FROM_FD_PARAMS", sizeof(import_object_parameters),
         {F(import_object_parameters, "fd", fd),
          F(import_object_parameters, "object.type", type),
          F(import_object_parameters, "object.data.rmObject.hDevice", device),
          F(import_object_parameters, "object.data.rmObject.hParent", parent),
          F(import_object_parameters, "object.data.rmObject.hObject", object)}},
        {"NV0041_CTRL_GET_SURFACE_INFO_PARAMS", sizeof(surface_info_parameters),
         {F(surface_info_parameters, "surfaceInfoListSize", count),
          F(surface_info_parameters, "surfaceInfoList", list)}},
        {"NV0041_CTRL_SURFACE_INFO", sizeof(surface_info),
         {F(surface_info, "index", index), F(surface_info, "data", data)}},
        {"NV0080_CTRL_GPU_GET_CLASSLIST_PARAMS", sizeof(class_list_parameters),
         {F(class_list_parameters, "numClasses", count),
          F(class_list_parameters, "classList", list)}},
        {"NV2080_CTRL_CE_GET_CAPS_V2_PARAMS", sizeof(ce_caps_parameters),
         {F(ce_caps_parameters, "ceEngineType", engine_type),
          F(ce_caps_parameters, "capsTbl", caps)}},
        {"NV2080_CTRL_FB_INFO", sizeof(fb_info),
         {F(fb_info, "index", index), F(fb_info, "data", data)}},
        {"NVA06C_CTRL_TIMESLICE_PARAMS", sizeof(time_slice_parameters),
         {F(time_slice_parameters, "timesliceUs", microseconds)}},
        {"NVA06F_CTRL_GPFIFO_SCHEDULE_PARAMS", sizeof(schedule_parameters_535),
         {F(schedule_parameters_535, "bEnable", enable),
          F(schedule_parameters_535, "bSkipSubmit", skip_submit)}, 0, 570},
        {"NVA06F_CTRL_GPFIFO_SCHEDULE_PARAMS", sizeof(schedule_parameters),
         {F(schedule_parameters, "bEnable", enable),
          F(schedule_parameters, "bSkipSubmit", skip_submit)}, 575},
        {"NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN_PARAMS", sizeof(submit_token_parameters),
         {F(submit_token_parameters, "workSubmitToken", token)}},
        {"NV0080_ALLOC_PARAMETERS", sizeof(device_alloc_parameters),
         {F(device_alloc_parameters, "deviceId", device_id),
          F(device_alloc_parameters, "hClientShare", client_share),
          F(device_alloc_parameters, "hTargetClient", target_client),
          F(device_alloc_parameters, "hTargetDevice", target_device),
          F(device_alloc_parameters, "flags", flags),
          F(device_alloc_parameters, "vaSpaceSize", va_space_size),
          F(device_alloc_parameters, "vaMode", va_mode)}, 0, ~0u, true},
        {"NV2080_ALLOC_PARAMETERS", sizeof(subdevice_alloc_parameters),
         {F(subdevice_alloc_parameters, "subDeviceId", subdevice_id)}, 0, ~0u, true},
        {"NVB0B5_ALLOCATION_PARAMETERS", sizeof(copy_object_parameters),
         {F(copy_object_parameters, "version", version),
          F(copy_object_parameters, "engineType", engine_type)}, 0, ~0u, true},
        {"NV_CHANNEL_ALLOC_PARAMS", sizeof(channel_parameters),
         {F(channel_parameters, "hObjectError", error_notifier),
          F(channel_parameters, "gpFifoOffset", gpfifo_address),
          F(channel_parameters, "gpFifoEntries", gpfifo_entries),
          F(channel_parameters, "flags", flags),
          F(channel_parameters, "hContextShare", context_share),
          F(channel_parameters, "hVASpace", address_space),
          F(channel_parameters, "hUserdMemory", userd_memory),
          F(channel_parameters, "userdOffset", userd_offset),
          F(channel_parameters, "engineType", engine_type)}, 0, ~0u, true},
        {"NV_CHANNEL_GROUP_ALLOCATION_PARAMETERS", sizeof(channel_group_parameters),
         {F(channel_group_parameters, "hObjectError", error_notifier),
          F(channel_group_parameters, "hVASpace", address_space),
          F(channel_group_parameters, "engineType", engine_type)}, 0, ~0u, true},
        {"NV_HOPPER_USERMODE_A_PARAMS", sizeof(usermode_parameters),
         {F(usermode_parameters, "bBar1Mapping", bar1_mapping),
          F(usermode_parameters, "bPriv", privileged)}, 0, ~0u, true},
        {"NV_MEMORY_ALLOCATION_PARAMS", sizeof(memory_alloc_parameters),
         {F(memory_alloc_parameters, "owner", owner), F(memory_alloc_parameters, "type", type),
          F(memory_alloc_parameters, "flags", flags), F(memory_alloc_parameters, "attr", attributes),
          F(memory_alloc_parameters, "attr2", attributes2),
          F(memory_alloc_parameters, "size", size),
          F(memory_alloc_parameters, "alignment", alignment)}, 0, ~0u, true},
        {"NV_MEMORY_VIRTUAL_ALLOCATION_PARAMS", sizeof(virtual_memory_parameters),
         {F(virtual_memory_parameters, "offset", offset),
          F(virtual_memory_parameters, "limit", limit),
          F(virtual_memory_parameters, "hVASpace", address_space)}, 0, ~0u, true},
        {"NV_VASPACE_ALLOCATION_PARAMETERS", sizeof(address_space_parameters),
         {F(address_space_parameters, "index", index), F(address_space_parameters, "flags", flags),
          F(address_space_parameters, "vaSize", size),
          F(address_space_parameters, "bigPageSize", big_page_size),
          F(address_space_parameters, "vaBase", base)}, 0, ~0u, true},
        {"NvNotification", sizeof(notification),
         {F(notification, "info32", info32), F(notification, "info16", info16),
          F(notification, "status", status)}},
        {"UVM_REGISTER_CHANNEL_PARAMS", sizeof(register_channel_parameters),
         {F(register_channel_parameters, "gpuUuid", gpu_uuid),
          F(register_channel_parameters, "rmCtrlFd", control_fd),
          F(register_channel_parameters, "hClient", client),
          F(register_channel_parameters, "hChannel", channel),
          F(register_channel_parameters, "base", base),
          F(register_channel_parameters, "length", length),
          F(register_channel_parameters, "rmStatus", status)}},
        {"UVM_CREATE_EXTERNAL_RANGE_PARAMS", sizeof(create_external_range_parameters),
         {F(create_external_range_parameters, "base", base), F(create_external_range_parameters, "length", length),
          F(create_external_range_parameters, "rmStatus", status)}},
        {"UVM_FREE_PARAMS", sizeof(free_range_parameters_535),
         {F(free_range_parameters_535, "base", base), F(free_range_parameters_535, "rmStatus", status)}, 0, 580},
        {"UVM_FREE_PARAMS", sizeof(free_range_parameters),
         {F(free_range_parameters, "base", base), F(free_range_parameters, "rmStatus", status)}, 590},
        {"UvmGpuMappingAttributes", sizeof(mapping_attributes),
         {F(mapping_attributes, "gpuUuid", gpu_uuid), F(mapping_attributes, "gpuMappingType", mapping_type),
          F(mapping_attributes, "gpuCachingType", caching_type)}},
#define MAP(of) {F(of, "base", base), F(of, "length", length), F(of, "offset", offset), F(of, "hClient", client), \
                 F(of, "perGpuAttributes", gpus), F(of, "gpuAttributesCount", gpu_count), F(of, "hMemory", memory), \
                 F(of, "rmCtrlFd", control_fd), F(of, "rmStatus", status)}
        {"UVM_MAP_EXTERNAL_ALLOCATION_PARAMS", sizeof(map_external_allocation_of<32>), MAP(map_external_allocation_of<32>), 0, 545},
        {"UVM_MAP_EXTERNAL_ALLOCATION_PARAMS", sizeof(map_external_allocation_of<256>), MAP(map_external_allocation_of<256>), 550},
#undef MAP
        {"UVM_UNREGISTER_CHANNEL_PARAMS", sizeof(unregister_channel_parameters_535),
         {F(unregister_channel_parameters_535, "hClient", client),
          F(unregister_channel_parameters_535, "hChannel", channel),
          F(unregister_channel_parameters_535, "rmStatus", status)}, 0, 580},
        {"UVM_UNREGISTER_CHANNEL_PARAMS", sizeof(unregister_channel_parameters),
         {F(unregister_channel_parameters, "hClient", client),
          F(unregister_channel_parameters, "hChannel", channel),
          F(unregister_channel_parameters, "rmStatus", status)}, 590},
    };
#undef F
}
// clang-format on

struct number {
    std::string_view name;
    std::uint64_t ours;
};

std::vector<number> numbers() {
    using namespace abi;
    return {
        {"NV_ESC_CARD_INFO", esc_card_info},
        {"NV_ESC_CHECK_VERSION_STR", esc_check_version},
        {"NV_ESC_EXPORT_TO_DMABUF_FD", esc_export_to_dma_buf_fd},
        {"NV_ESC_REGISTER_FD", esc_register_fd},
        {"NV_ESC_RM_ALLOC", esc_rm_alloc},
        {"NV_ESC_RM_ALLOC_MEMORY", esc_rm_alloc_memory},
        {"NV_ESC_RM_CONTROL", esc_rm_control},
        {"NV_ESC_RM_DUP_OBJECT", esc_rm_dup_object},
        {"NV_ESC_RM_FREE", esc_rm_free},
        {"NV_ESC_RM_MAP_MEMORY", esc_rm_map_memory},
        {"NV_ESC_RM_MAP_MEMORY_DMA", esc_rm_map_memory_dma},
        {"NV_ESC_RM_UNMAP_MEMORY", esc_rm_unmap_memory},
        {"NV_ESC_RM_UNMAP_MEMORY_DMA", esc_rm_unmap_memory_dma},
        {"NV01_ROOT_CLIENT", class_root_client},
        {"NV01_DEVICE_0", class_device},
        {"NV20_SUBDEVICE_0", class_subdevice},
        {"NV01_MEMORY_LOCAL_USER", class_local_memory},
        {"NV01_MEMORY_VIRTUAL", class_virtual_memory},
        {"NV01_MEMORY_SYSTEM_OS_DESCRIPTOR", class_os_descriptor},
        {"FERMI_VASPACE_A", class_address_space},
        {"KEPLER_CHANNEL_GROUP_A", class_channel_group},
        {"NV0000_CTRL_CMD_CLIENT_GET_HANDLE_INFO", cmd_get_handle_info},
        {"NV0000_CTRL_CMD_GPU_GET_ID_INFO_V2", cmd_gpu_get_id_info_v2},
        {"NV0000_CTRL_CMD_OS_UNIX_EXPORT_OBJECTS_TO_FD", cmd_export_objects_to_fd},
        {"NV0000_CTRL_CMD_OS_UNIX_GET_EXPORT_OBJECT_INFO", cmd_get_export_object_info},
        {"NV0000_CTRL_CMD_OS_UNIX_IMPORT_OBJECTS_FROM_FD", cmd_import_objects_from_fd},
        {"NV0000_CTRL_CMD_OS_UNIX_IMPORT_OBJECT_FROM_FD", cmd_import_object_from_fd},
        {"NV0041_CTRL_CMD_GET_SURFACE_INFO", cmd_get_surface_info},
        {"NV0080_CTRL_CMD_GPU_GET_CLASSLIST", cmd_gpu_get_class_list},
        {"NV2080_CTRL_CMD_CE_GET_CAPS_V2", cmd_ce_get_caps},
        {"NV2080_CTRL_CMD_FB_GET_INFO_V2", cmd_fb_get_info_v2},
        {"NVA06C_CTRL_CMD_SET_TIMESLICE", cmd_set_time_slice},
        {"NVA06F_CTRL_CMD_GPFIFO_SCHEDULE", cmd_schedule},
        {"NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN", cmd_get_submit_token},
        {"NV2080_CTRL_FB_INFO_INDEX_BAR1_SIZE", fb_info_bar1_size},
        {"NV2080_CTRL_FB_INFO_INDEX_BAR1_AVAIL_SIZE", fb_info_bar1_avail_size},
        {"NV2080_ENGINE_TYPE_COPY0", engine_type_copy(0)},
        {"NV2080_ENGINE_TYPE_COPY9", engine_type_copy(9)},
        {"NV2080_ENGINE_TYPE_COPY10", engine_type_copy(10)},
        {"NV2080_ENGINE_TYPE_COPY19", engine_type_copy(19)},
        {"NV_MAX_DEVICES", max_cards},
        {"UVM_REGISTER_CHANNEL", uvm_abi::register_channel},
        {"UVM_UNREGISTER_CHANNEL", uvm_abi::unregister_channel}, {"UVM_FREE", uvm_abi::free_range},
        {"UVM_MAP_EXTERNAL_ALLOCATION", uvm_abi::map_external_allocation},
        {"UVM_CREATE_EXTERNAL_RANGE", uvm_abi::create_external_range},
    };
}

driver_series series_called(unsigned number) {
    return driver_series::of(std::to_string(number) + ".1").value();
}

TEST(driver_data, holds_the_layout_of_each_structure_in_each_series) {
    auto const all = layouts();
    for (data::tagged_series const& tagged : data::all_series) {
        driver_series const series = series_called(tagged.number);
        for (data::structure_member const& each : data::members) {
            SCOPED_TRACE(std::string(tagged.tag) + " " + std::string(each.structure) + " " +
                         std::string(each.name));
            if (each.structure == "NV2080_CTRL_FB_GET_INFO_V2_PARAMS")
                continue; // its list is shorter in older series
            std::uint32_t const theirs = series.value(each.of);
            bool was_found = false;
            for (layout const& ours : all) {
                if (ours.structure != each.structure || tagged.number < ours.first ||
                    tagged.number > ours.last)
                    continue;
                if (each.name.empty()) {
                    was_found = true;
                    EXPECT_TRUE(ours.is_of_a_class ? ours.size >= theirs : ours.size == theirs)
                        << ours.size << " " << theirs;
                }
                for (field const& of : ours.fields)
                    if (of.name == each.name) {
                        was_found = true;
                        EXPECT_EQ(of.offset, theirs);
                    }
            }
            bool const is_needed = each.name.empty();
            EXPECT_TRUE(was_found || !is_needed);
        }
    }
}

TEST(driver_data, holds_each_member_that_barmap_names) {
    for (layout const& ours : layouts())
        for (field const& of : ours.fields) {
            bool was_found = false;
            for (data::structure_member const& each : data::members)
                was_found |= each.structure == ours.structure && each.name == of.name;
            EXPECT_TRUE(was_found) << ours.structure << " " << of.name;
        }
}

TEST(driver_data, holds_the_numbers_of_each_series) {
    for (number const& ours : numbers()) {
        bool was_found = false;
        for (data::number const& theirs : data::numbers) {
            if (theirs.name != ours.name)
                continue;
            was_found = true;
            for (std::uint32_t const each : theirs.of)
                if (each != 0) { // it is there
                    EXPECT_EQ(each, ours.ours) << ours.name;
                }
            EXPECT_NE(theirs.of.back(), 0u) << ours.name;
        }
        EXPECT_TRUE(was_found) << ours.name;
    }
}

TEST(driver_data, tells_how_long_the_list_of_memory_sizes_is) {
    constexpr data::values sizes = data::size_of("NV2080_CTRL_FB_GET_INFO_V2_PARAMS");
    constexpr data::values lengths = data::number_of("NV2080_CTRL_FB_INFO_MAX_LIST_SIZE");
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        EXPECT_EQ(sizes[i],
                  offsetof(abi::fb_get_info_parameters, list) + lengths[i] * sizeof(abi::fb_info));
        EXPECT_LE(lengths[i], abi::fb_info_max);
    }
    EXPECT_EQ(series_called(535).value(sizes), 436u);
    EXPECT_EQ(series_called(550).value(sizes), 444u);
    EXPECT_EQ(series_called(565).value(sizes), 460u);
    EXPECT_EQ(series_called(580).value(sizes), 1028u);
}

TEST(driver_series, is_known_by_its_number) {
    EXPECT_EQ(driver_series::of("580.159.04")->number(), 580u);
    for (char const* unknown :
         {"", "580", ".580", "581.1", "525.1", "620.6", "999999999999.1", "5e2.1"})
        EXPECT_FALSE(driver_series::of(unknown)) << unknown;
    for (data::tagged_series const& each : data::all_series) {
        EXPECT_TRUE(driver_series::of(each.tag)->is_from_headers()) << each.tag;
        EXPECT_EQ(known_from(each.tag), driver_source::headers) << each.tag;
    }
    EXPECT_EQ(known_from("620.6"), driver_source::unknown);
}

// 610 and 615 stand in the tables of other programs only: as 595, but for one structure.
TEST(driver_series, takes_the_newest_for_those_of_other_programs) {
    for (unsigned const number : {610u, 615u}) {
        driver_series const series = series_called(number);
        EXPECT_EQ(series.number(), number);
        EXPECT_FALSE(series.is_from_headers());
        EXPECT_EQ(known_from(std::to_string(number) + ".1"), driver_source::other_projects);
        EXPECT_TRUE(series.shifted_channel());
        EXPECT_TRUE(series.long_map() && series.long_unmap() && series.long_schedule() &&
                    series.long_export_info());
        EXPECT_FALSE(series.long_unregister());
    }
    EXPECT_FALSE(series_called(595).shifted_channel());
}

// Which of two layouts a call takes is decided by the size.
TEST(driver_series, has_the_layouts_of_its_sizes) {
    for (data::tagged_series const& each : data::all_series) {
        driver_series const series = series_called(each.number);
        SCOPED_TRACE(each.number);
        EXPECT_EQ(series.long_unmap(), each.number >= 550);
        EXPECT_EQ(series.long_schedule(), each.number >= 575);
        EXPECT_EQ(series.long_map(), each.number >= 580);
        EXPECT_EQ(series.long_export_info(), each.number >= 545);
        EXPECT_EQ(series.long_unregister(), each.number < 590);
        EXPECT_EQ(series.maps_coherent_by_pcie(), each.number < 595);
    }
}

} // namespace
} // namespace barmap::rm
