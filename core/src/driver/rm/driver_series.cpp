// SPDX-License-Identifier: MIT
#include "driver/rm/driver_series.hpp"

#include "nvidia/channel.hpp"
#include "nvidia/uvm.hpp"
#include "system/no_cancellation.hpp"

#include <barmap/report.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace barmap::rm {
namespace {

/// Series that NVIDIA's open-gpu-kernel-modules do not have yet. According to the tables of two
/// other programs they have the structures of 595, except for shifted_channel().
constexpr std::array<unsigned, 2> series_of_others{610, 615};

template <class Parameters>
bool is_size_of(driver_series const& series, data::values const& row) noexcept {
    return series.value(row) == sizeof(Parameters);
}

} // namespace

std::optional<driver_series> driver_series::of(std::string_view version) noexcept {
    unsigned number = 0;
    char const* const end = version.data() + version.size();
    auto const [dot, problem] = std::from_chars(version.data(), end, number);
    if (problem != std::errc{} || dot == end || *dot != '.')
        return std::nullopt;
    for (std::size_t i = 0; i < data::all_series.size(); ++i)
        if (data::all_series[i].number == number)
            return driver_series(number, i);
    if (std::ranges::find(series_of_others, number) != series_of_others.end())
        return driver_series(number, data::all_series.size() - 1);
    return std::nullopt;
}

bool driver_series::long_unmap() const noexcept {
    return is_size_of<abi::unmap_dma_parameters>(*this, data::size_of("NVOS47_PARAMETERS"));
}

bool driver_series::long_schedule() const noexcept {
    return is_size_of<abi::schedule_parameters>(
        *this, data::size_of("NVA06F_CTRL_GPFIFO_SCHEDULE_PARAMS"));
}

bool driver_series::long_map() const noexcept {
    return is_size_of<abi::map_dma_parameters>(*this, data::size_of("NVOS46_PARAMETERS"));
}

bool driver_series::long_export_info() const noexcept {
    return is_size_of<abi::export_object_info>(
        *this, data::size_of("NV0000_CTRL_OS_UNIX_GET_EXPORT_OBJECT_INFO_PARAMS"));
}

bool driver_series::long_unregister() const noexcept {
    return is_size_of<uvm_abi::unregister_channel_parameters_535>(
        *this, data::size_of("UVM_UNREGISTER_CHANNEL_PARAMS"));
}

bool driver_series::long_free_range() const noexcept {
    return is_size_of<uvm_abi::free_range_parameters_535>(*this, data::size_of("UVM_FREE_PARAMS"));
}

bool driver_series::long_map_external() const noexcept {
    return is_size_of<uvm_abi::map_external_allocation_parameters>(
        *this, data::size_of("UVM_MAP_EXTERNAL_ALLOCATION_PARAMS"));
}

} // namespace barmap::rm

int barmap_driver_known_from(char const* version) {
    barmap::os::no_cancellation const uncancelled;
    std::optional<barmap::rm::driver_series> const series =
        barmap::rm::driver_series::of(version ? version : "");
    if (!series)
        return BARMAP_DRIVER_UNKNOWN;
    return series->is_from_headers() ? BARMAP_DRIVER_HEADERS : BARMAP_DRIVER_OTHER_PROJECTS;
}
