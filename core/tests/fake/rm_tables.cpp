// SPDX-License-Identifier: MIT
#include "fake/rm_tables.hpp"

#include "nvidia/channel.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace barmap::fake::rm {
namespace {

namespace abi = barmap::rm::abi;

// 610 and 615 are known from other projects only: as the newest of the data, but for one structure.
constexpr unsigned channels_change_again = 610;
constexpr std::uint32_t channel_bytes_of_610 = 376;

template <class Rows>
auto const& row(Rows const& rows, auto const& is_wanted, std::string_view what) {
    auto const found = std::ranges::find_if(rows, is_wanted);
    if (found == std::end(rows)) {
        std::fprintf(stderr, "driver_data.hpp has no %s\n", std::string(what).c_str());
        std::abort();
    }
    return *found;
}

std::uint32_t value_in(unsigned series, data::values const& of) {
    auto const found = std::ranges::find(data::all_series, series, &data::tagged_series::number);
    return found == data::all_series.end()
               ? of.back()
               : of[static_cast<std::size_t>(found - data::all_series.begin())];
}

constexpr data::chip stranger{unknown_chip, "", "", 10, {0xcf6f, 0xcfb5, 0xcf61}};

struct structure_of {
    std::uint32_t number;
    std::string_view structure;
};

constexpr structure_of controls[]{
    {abi::cmd_get_handle_info, "NV0000_CTRL_CLIENT_GET_HANDLE_INFO_PARAMS"},
    {abi::cmd_gpu_get_id_info_v2, "NV0000_CTRL_GPU_GET_ID_INFO_V2_PARAMS"},
    {abi::cmd_export_objects_to_fd, "NV0000_CTRL_OS_UNIX_EXPORT_OBJECTS_TO_FD_PARAMS"},
    {abi::cmd_get_export_object_info, "NV0000_CTRL_OS_UNIX_GET_EXPORT_OBJECT_INFO_PARAMS"},
    {abi::cmd_import_objects_from_fd, "NV0000_CTRL_OS_UNIX_IMPORT_OBJECTS_FROM_FD_PARAMS"},
    {abi::cmd_import_object_from_fd, "NV0000_CTRL_OS_UNIX_IMPORT_OBJECT_FROM_FD_PARAMS"},
    {abi::cmd_get_surface_info, "NV0041_CTRL_GET_SURFACE_INFO_PARAMS"},
    {abi::cmd_gpu_get_class_list, "NV0080_CTRL_GPU_GET_CLASSLIST_PARAMS"},
    {abi::cmd_ce_get_caps, "NV2080_CTRL_CE_GET_CAPS_V2_PARAMS"},
    {abi::cmd_fb_get_info_v2, "NV2080_CTRL_FB_GET_INFO_V2_PARAMS"},
    {abi::cmd_set_time_slice, "NVA06C_CTRL_TIMESLICE_PARAMS"},
    {abi::cmd_schedule, "NVA06F_CTRL_GPFIFO_SCHEDULE_PARAMS"},
    {abi::cmd_get_submit_token, "NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN_PARAMS"},
};

constexpr structure_of classes[]{
    {abi::class_device, "NV0080_ALLOC_PARAMETERS"},
    {abi::class_subdevice, "NV2080_ALLOC_PARAMETERS"},
    {abi::class_local_memory, "NV_MEMORY_ALLOCATION_PARAMS"},
    {abi::class_virtual_memory, "NV_MEMORY_VIRTUAL_ALLOCATION_PARAMS"},
    {abi::class_address_space, "NV_VASPACE_ALLOCATION_PARAMETERS"},
    {abi::class_channel_group, "NV_CHANNEL_GROUP_ALLOCATION_PARAMETERS"},
};

std::string_view structure_in(auto const& table, std::uint32_t number) {
    auto const found = std::ranges::find(table, number, &structure_of::number);
    return found == std::end(table) ? std::string_view{} : found->structure;
}

} // namespace

std::uint32_t size_of(std::string_view structure, unsigned series) {
    if (series >= channels_change_again && structure == "NV_CHANNEL_ALLOC_PARAMS")
        return channel_bytes_of_610;
    auto const is_it = [&](data::structure_member const& each) {
        return each.structure == structure && each.name.empty();
    };
    return value_in(series, row(data::members, is_it, structure).of);
}

std::uint32_t number_of(std::string_view name, unsigned series) {
    auto const is_it = [&](data::number const& each) { return each.name == name; };
    return value_in(series, row(data::numbers, is_it, name).of);
}

std::string_view structure_of_control(std::uint32_t command) {
    return structure_in(controls, command);
}

std::string_view structure_of_class(std::uint32_t object_class) {
    constexpr std::uint32_t first_usermode_with_parameters = 0xc661;
    if (std::string_view const found = structure_in(classes, object_class); !found.empty())
        return found;
    if (is_channel(object_class))
        return "NV_CHANNEL_ALLOC_PARAMS";
    if (is_copy(object_class))
        return "NVB0B5_ALLOCATION_PARAMETERS";
    if (is_usermode(object_class) && object_class >= first_usermode_with_parameters)
        return "NV_HOPPER_USERMODE_A_PARAMS";
    return {};
}

data::chip const& chip_called(std::string_view name) {
    if (name == unknown_chip)
        return stranger;
    return row(
        data::chips, [&](data::chip const& each) { return each.name == name; }, name);
}

bool lists(std::string_view chip, std::uint32_t object_class) {
    auto const& all = chip_called(chip).classes;
    return object_class != 0 && std::ranges::find(all, object_class) != all.end();
}

channel_classes classes_of(std::string_view chip) {
    channel_classes result{};
    for (std::uint32_t const each : chip_called(chip).classes) {
        std::uint32_t& kind = is_channel(each) ? result.channel
                              : is_copy(each)  ? result.copy
                                               : result.usermode;
        kind = std::max(kind, each);
    }
    return result;
}

} // namespace barmap::fake::rm
