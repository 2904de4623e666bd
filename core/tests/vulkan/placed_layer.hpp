// SPDX-License-Identifier: MIT
#pragma once

#include "map/vulkan/vulkan_abi.hpp"

#include <string_view>

namespace barmap::test {

/// Gives a driver whose mappings are of shared files the extensions VK_KHR_map_memory2 and
/// VK_EXT_map_memory_placed, which Mesa 22 lacks. To be asked for each function that the program
/// looks up. @return what the program gets instead of `real`
[[nodiscard]] PFN_vkVoidFunction placed_layer(std::string_view symbol, PFN_vkVoidFunction real);

/// More than a page, so that the program must heed it.
inline constexpr VkDeviceSize placed_layer_alignment = 64 * 1024;

/// Whether the layer's device can leave a reservation behind when it unmaps.
void placed_layer_can_reserve(bool can);

} // namespace barmap::test
