// SPDX-License-Identifier: MIT
#pragma once

#include "map/vulkan/vulkan_abi.hpp"
#include "system/library.hpp"

#include <string_view>

namespace barmap::backend::vulkan {

// X(member, Vulkan's name). The object that is asked for a name decides which function it gets.
// clang-format off
#define BARMAP_VULKAN_GLOBAL_FUNCTIONS(X)                                                          \
    X(enumerate_instance_version, vkEnumerateInstanceVersion)                                      \
    X(create_instance, vkCreateInstance)
#define BARMAP_VULKAN_INSTANCE_FUNCTIONS(X)                                                        \
    X(destroy_instance, vkDestroyInstance)                                                         \
    X(enumerate_physical_devices, vkEnumeratePhysicalDevices)                                      \
    X(get_properties, vkGetPhysicalDeviceProperties2)                                              \
    X(get_features, vkGetPhysicalDeviceFeatures2)                                                  \
    X(get_memory_properties, vkGetPhysicalDeviceMemoryProperties)                                  \
    X(enumerate_device_extensions, vkEnumerateDeviceExtensionProperties)                           \
    X(create_device, vkCreateDevice)                                                               \
    X(get_device_proc_addr, vkGetDeviceProcAddr)
#define BARMAP_VULKAN_DEVICE_FUNCTIONS(X)                                                          \
    X(destroy_device, vkDestroyDevice)                                                             \
    X(allocate_memory, vkAllocateMemory)                                                           \
    X(free_memory, vkFreeMemory)                                                                   \
    X(map_memory, vkMapMemory)                                                                     \
    X(unmap_memory, vkUnmapMemory)                                                                 \
    X(get_memory_fd, vkGetMemoryFdKHR)
// clang-format on

/// The part of Vulkan that barmap calls, filled in three steps.
struct functions {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;
#define BARMAP_VULKAN_MEMBER(member, symbol) PFN_##symbol member = nullptr;
    BARMAP_VULKAN_GLOBAL_FUNCTIONS(BARMAP_VULKAN_MEMBER)
    BARMAP_VULKAN_INSTANCE_FUNCTIONS(BARMAP_VULKAN_MEMBER)
    BARMAP_VULKAN_DEVICE_FUNCTIONS(BARMAP_VULKAN_MEMBER)
#undef BARMAP_VULKAN_MEMBER
    // Null unless the device was made with both extensions.
    abi::map_memory2_function map_memory2 = nullptr;
    abi::unmap_memory2_function unmap_memory2 = nullptr;

    /// The functions that need no instance. @throws error errc::backend_absent if something is
    /// missing
    void load_global(os::library const& loader);
    /// @throws error errc::backend_absent if something is missing
    void load(VkInstance instance);
    /// @throws error errc::backend_absent if something is missing
    void load(VkDevice device, bool placed);
};

/// @throws error with the code and advice that fits it, unless the call succeeded
void check(VkResult result, std::string_view operation);

} // namespace barmap::backend::vulkan
