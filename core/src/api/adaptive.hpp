// SPDX-License-Identifier: MIT
#pragma once

#include "api/pin_state.hpp"

#include <barmap/types.hpp>

#include <cstddef>
#include <string_view>

namespace barmap {

/// Copies between host memory and [offset, offset + bytes) of a mapping by the fastest method.
/// @pre the range lies inside the mapping
/// @throws error errc::copy_unfinished; or as methods_of()
void copy_adaptively(mapping_state const& mapping, copy_direction direction, std::size_t offset,
                     std::byte* host, std::size_t bytes);

/// Makes one engine copy, or loads and stores. @throws error as barmap::mapping::use_engine()
void use_engine(mapping_state& mapping, std::string_view name);

/// The same by loads and stores.
void copy_by_mapping(mapping_state const& mapping, copy_direction direction, std::size_t offset,
                     std::byte* host, std::size_t bytes) noexcept;

/// The methods by which copy_adaptively() copies, measured now if they have not been. @throws error
[[nodiscard]] copy_methods const& methods_of(pin_state const& pin);

} // namespace barmap
