// SPDX-License-Identifier: MIT
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

/// Declarations that the oldest Vulkan headers that barmap builds with (1.3.239) lack: the
/// extensions VK_KHR_map_memory2 and VK_EXT_map_memory_placed. Names of our own, so that newer
/// headers do not collide; values and layouts as in the Vulkan specification's registry.
namespace barmap::backend::vulkan::abi {

inline constexpr char map_memory2_extension[] = "VK_KHR_map_memory2";
inline constexpr char map_memory_placed_extension[] = "VK_EXT_map_memory_placed";

inline constexpr VkMemoryMapFlags map_placed_bit = 1;
inline constexpr VkFlags unmap_reserve_bit = 1;

/// VkMemoryMapInfo
struct map_info {
    VkStructureType type = static_cast<VkStructureType>(1000271000);
    void const* next = nullptr;
    VkMemoryMapFlags flags = 0;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkDeviceSize offset = 0;
    VkDeviceSize size = 0;
};

/// VkMemoryUnmapInfo
struct unmap_info {
    VkStructureType type = static_cast<VkStructureType>(1000271001);
    void const* next = nullptr;
    VkFlags flags = 0;
    VkDeviceMemory memory = VK_NULL_HANDLE;
};

/// VkPhysicalDeviceMapMemoryPlacedFeaturesEXT
struct map_placed_features {
    VkStructureType type = static_cast<VkStructureType>(1000272000);
    void* next = nullptr;
    VkBool32 map_placed = VK_FALSE;
    VkBool32 map_range_placed = VK_FALSE;
    VkBool32 unmap_reserve = VK_FALSE;
};

/// VkPhysicalDeviceMapMemoryPlacedPropertiesEXT
struct map_placed_properties {
    VkStructureType type = static_cast<VkStructureType>(1000272001);
    void* next = nullptr;
    VkDeviceSize alignment = 0;
};

/// VkMemoryMapPlacedInfoEXT
struct map_placed_info {
    VkStructureType type = static_cast<VkStructureType>(1000272002);
    void const* next = nullptr;
    void* address = nullptr;
};

using map_memory2_function = VkResult(VKAPI_PTR*)(VkDevice, map_info const*, void**);
using unmap_memory2_function = VkResult(VKAPI_PTR*)(VkDevice, unmap_info const*);

} // namespace barmap::backend::vulkan::abi
