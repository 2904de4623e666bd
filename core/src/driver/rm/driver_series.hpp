// SPDX-License-Identifier: MIT
#pragma once

#include "driver/rm/driver_data.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// The data that barmap has of each series of NVIDIA's driver.
namespace barmap::rm {
namespace data {

/// A row of driver_data.hpp. Does not compile for a name that is not there.
[[nodiscard]] consteval values offset_of(std::string_view structure, std::string_view name) {
    for (structure_member const& each : members)
        if (each.structure == structure && each.name == name)
            return each.of;
    throw "driver_data.hpp has no such member";
}

[[nodiscard]] consteval values size_of(std::string_view structure) {
    return offset_of(structure, "");
}

[[nodiscard]] consteval values number_of(std::string_view name) {
    for (number const& each : numbers)
        if (each.name == name)
            return each.of;
    throw "driver_data.hpp has no such number";
}

} // namespace data

/// A series of the driver whose structures are known.
class driver_series {
public:
    /// The series of a version such as "580.159.04"; nothing if it is not known.
    [[nodiscard]] static std::optional<driver_series> of(std::string_view version) noexcept;

    [[nodiscard]] unsigned number() const noexcept { return number_; }

    /// Whether its structures are those of NVIDIA's headers. Other projects' tables give those of
    /// 610 and 615.
    [[nodiscard]] bool is_from_headers() const noexcept {
        return number_ == data::all_series[column_].number;
    }

    /// The series' own value of a row of the data.
    [[nodiscard]] std::uint32_t value(data::values const& row) const noexcept {
        return row[column_];
    }

    // The structures that differ between series: whether it has the longer one of two.
    [[nodiscard]] bool long_unmap() const noexcept;
    [[nodiscard]] bool long_schedule() const noexcept;
    [[nodiscard]] bool long_map() const noexcept;
    [[nodiscard]] bool long_export_info() const noexcept;
    /// The unified memory driver requires the GPU's UUID to unregister a channel.
    [[nodiscard]] bool long_unregister() const noexcept;
    /// The unified memory driver requires a range's length to free it.
    [[nodiscard]] bool long_free_range() const noexcept;
    /// It maps an object for up to 256 GPUs in one call; for 32 before.
    [[nodiscard]] bool long_map_external() const noexcept;
    /// RM maps a GPU that the CPU reaches by a coherent link also by PCIe. From 595 on it refuses
    /// (mapping_cpu.c).
    [[nodiscard]] bool maps_coherent_by_pcie() const noexcept { return number_ < 595; }
    /// A channel's parameters have another member before userd_memory. Source: the tables of two
    /// other programs that call RM.
    [[nodiscard]] bool shifted_channel() const noexcept { return number_ >= first_shifted; }

private:
    static constexpr unsigned first_shifted = 610;
    constexpr driver_series(unsigned number, std::size_t column) noexcept
        : number_(number), column_(column) {}
    unsigned number_;
    std::size_t column_; ///< of the data: the newest one for a series that it lacks
};

} // namespace barmap::rm
