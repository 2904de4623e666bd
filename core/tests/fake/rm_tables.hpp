// SPDX-License-Identifier: MIT
#pragma once

#include "driver/rm/driver_data.hpp"

#include <cstdint>
#include <string_view>

/// What the fake RM knows of drivers and chips: the numbers of NVIDIA's headers, not barmap's own.
namespace barmap::fake::rm {

namespace data = barmap::rm::data;

/// The size of a structure in a series, bytes. Aborts the test for a structure without data.
[[nodiscard]] std::uint32_t size_of(std::string_view structure, unsigned series);

/// Whether a structure has this layout in a series.
template <class Parameters>
[[nodiscard]] bool is_size(std::string_view structure, unsigned series) {
    return size_of(structure, series) == sizeof(Parameters);
}

/// A number of a series; 0 where it has none.
[[nodiscard]] std::uint32_t number_of(std::string_view name, unsigned series);

/// The structure of a control's parameters; empty for an unknown command.
[[nodiscard]] std::string_view structure_of_control(std::uint32_t command);

/// The structure of a class's parameters; empty for a class without any.
[[nodiscard]] std::string_view structure_of_class(std::uint32_t object_class);

/// A chip that no data knows: it has classes that are newer than all others.
inline constexpr std::string_view unknown_chip = "an unknown chip";

/// The classes of a chip for channels; then zeros.
[[nodiscard]] data::chip const& chip_called(std::string_view name);

[[nodiscard]] bool lists(std::string_view chip, std::uint32_t object_class);

/// Of each kind the newest that the chip lists.
struct channel_classes {
    std::uint32_t channel, copy, usermode;
};
[[nodiscard]] channel_classes classes_of(std::string_view chip);

// The kind of a class, by its number.
[[nodiscard]] constexpr bool is_channel(std::uint32_t c) noexcept {
    return (c & 0xff) == 0x6f;
}
[[nodiscard]] constexpr bool is_copy(std::uint32_t c) noexcept {
    return (c & 0xff) == 0xb5;
}
[[nodiscard]] constexpr bool is_usermode(std::uint32_t c) noexcept {
    return (c & 0xff) == 0x61;
}

} // namespace barmap::fake::rm
