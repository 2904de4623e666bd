// SPDX-License-Identifier: MIT
#include "placed_layer.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/mman.h>
#include <vector>

namespace barmap::test {
namespace {

namespace abi = backend::vulkan::abi;

struct placement {
    void* at = nullptr;
    std::size_t bytes = 0;
};

PFN_vkEnumerateDeviceExtensionProperties list_extensions = nullptr;
PFN_vkGetPhysicalDeviceFeatures2 get_features = nullptr;
PFN_vkGetPhysicalDeviceProperties2 get_properties = nullptr;
PFN_vkCreateDevice create_device = nullptr;
PFN_vkAllocateMemory allocate_memory = nullptr;
PFN_vkFreeMemory free_memory = nullptr;
PFN_vkMapMemory map_memory = nullptr;
PFN_vkUnmapMemory unmap_memory = nullptr;
bool can_reserve = true;
bool enabled = false;
std::map<VkDeviceMemory, std::size_t> sizes;
std::map<VkDeviceMemory, placement> placements;

template <class Wanted>
Wanted* find_in_chain(void* next, VkStructureType type) {
    for (auto* at = static_cast<VkBaseOutStructure*>(next); at; at = at->pNext)
        if (at->sType == type)
            return reinterpret_cast<Wanted*>(at);
    return nullptr;
}

/// What the specification forbids ends the test at once.
void demand(bool condition, char const* what) {
    if (condition)
        return;
    std::fprintf(stderr, "placed_layer: invalid use: %s\n", what);
    std::abort();
}

VKAPI_ATTR VkResult VKAPI_CALL listed(VkPhysicalDevice physical, char const* layer,
                                      std::uint32_t* count, VkExtensionProperties* properties) {
    std::uint32_t own = 0;
    VkResult result = list_extensions(physical, layer, &own, nullptr);
    std::vector<VkExtensionProperties> all(own);
    if (result == VK_SUCCESS)
        result = list_extensions(physical, layer, &own, all.data());
    if (result != VK_SUCCESS)
        return result;
    for (char const* added : {abi::map_memory2_extension, abi::map_memory_placed_extension}) {
        VkExtensionProperties& extension = all.emplace_back();
        std::strcpy(extension.extensionName, added);
        extension.specVersion = 1;
    }
    if (properties)
        std::memcpy(properties, all.data(), all.size() * sizeof all.front());
    *count = static_cast<std::uint32_t>(all.size());
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL features_got(VkPhysicalDevice physical,
                                        VkPhysicalDeviceFeatures2* features) {
    get_features(physical, features);
    abi::map_placed_features const wanted;
    if (auto* placed = find_in_chain<abi::map_placed_features>(features->pNext, wanted.type)) {
        placed->map_placed = VK_TRUE;
        placed->unmap_reserve = can_reserve;
    }
}

VKAPI_ATTR void VKAPI_CALL properties_got(VkPhysicalDevice physical,
                                          VkPhysicalDeviceProperties2* properties) {
    get_properties(physical, properties);
    abi::map_placed_properties const wanted;
    if (auto* limits = find_in_chain<abi::map_placed_properties>(properties->pNext, wanted.type))
        limits->alignment = placed_layer_alignment;
}

VKAPI_ATTR VkResult VKAPI_CALL device_created(VkPhysicalDevice physical,
                                              VkDeviceCreateInfo const* info,
                                              VkAllocationCallbacks const* callbacks,
                                              VkDevice* device) {
    demand(info->queueCreateInfoCount == 1 && info->pQueueCreateInfos->queueCount > 0, "no queue");
    VkDeviceCreateInfo below = *info;
    std::vector<char const*> extensions;
    unsigned added = 0;
    for (std::uint32_t i = 0; i < info->enabledExtensionCount; ++i) {
        char const* const extension = info->ppEnabledExtensionNames[i];
        if (std::strcmp(extension, abi::map_memory2_extension) == 0 ||
            std::strcmp(extension, abi::map_memory_placed_extension) == 0)
            ++added;
        else
            extensions.push_back(extension);
    }
    abi::map_placed_features const wanted;
    auto* features =
        find_in_chain<abi::map_placed_features>(const_cast<void*>(info->pNext), wanted.type);
    enabled = added == 2 && features && features->map_placed && features->unmap_reserve;
    below.pNext = nullptr;
    below.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    below.ppEnabledExtensionNames = extensions.data();
    return create_device(physical, &below, callbacks, device);
}

VKAPI_ATTR VkResult VKAPI_CALL memory_allocated(VkDevice device, VkMemoryAllocateInfo const* info,
                                                VkAllocationCallbacks const* callbacks,
                                                VkDeviceMemory* memory) {
    VkResult const result = allocate_memory(device, info, callbacks, memory);
    if (result == VK_SUCCESS)
        sizes[*memory] = static_cast<std::size_t>(info->allocationSize);
    return result;
}

// Freeing mapped memory unmaps it.
VKAPI_ATTR void VKAPI_CALL memory_freed(VkDevice device, VkDeviceMemory memory,
                                        VkAllocationCallbacks const* callbacks) {
    if (auto const found = placements.find(memory); found != placements.end()) {
        ::munmap(found->second.at, found->second.bytes);
        placements.erase(found);
    }
    sizes.erase(memory);
    free_memory(device, memory, callbacks);
}

VKAPI_ATTR VkResult VKAPI_CALL mapped(VkDevice device, abi::map_info const* info, void** address) {
    demand(enabled, "the extensions or features are not enabled");
    demand(info->type == static_cast<VkStructureType>(1000271000), "type of VkMemoryMapInfo");
    demand(info->flags == abi::map_placed_bit, "flags");
    demand(info->offset == 0 && info->size == VK_WHOLE_SIZE, "a part is mapped");
    demand(!placements.contains(info->memory), "mapped twice");
    abi::map_placed_info const wanted;
    auto* place = find_in_chain<abi::map_placed_info>(const_cast<void*>(info->next), wanted.type);
    demand(place != nullptr && place->address != nullptr, "no place");
    std::size_t const bytes = sizes.at(info->memory);
    demand(reinterpret_cast<std::uintptr_t>(place->address) % placed_layer_alignment == 0 &&
               bytes % placed_layer_alignment == 0,
           "alignment");
    void* elsewhere = nullptr;
    VkResult const result = map_memory(device, info->memory, 0, VK_WHOLE_SIZE, 0, &elsewhere);
    if (result != VK_SUCCESS)
        return result;
    // An old size of 0 makes a second mapping of shared pages.
    void* const placed =
        ::mremap(elsewhere, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place->address);
    if (placed == MAP_FAILED) {
        unmap_memory(device, info->memory);
        return VK_ERROR_MEMORY_MAP_FAILED;
    }
    placements[info->memory] = {placed, bytes};
    *address = placed;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL unmapped(VkDevice device, abi::unmap_info const* info) {
    demand(info->type == static_cast<VkStructureType>(1000271001), "type of VkMemoryUnmapInfo");
    demand(info->flags == abi::unmap_reserve_bit, "flags");
    auto const found = placements.find(info->memory);
    demand(found != placements.end(), "not mapped");
    ::mmap(found->second.at, found->second.bytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    placements.erase(found);
    unmap_memory(device, info->memory);
    return VK_SUCCESS;
}

template <class Function>
PFN_vkVoidFunction over(Function& below, PFN_vkVoidFunction real, Function ours) {
    below = reinterpret_cast<Function>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(ours);
}

} // namespace

PFN_vkVoidFunction placed_layer(std::string_view symbol, PFN_vkVoidFunction real) {
    if (symbol == "vkEnumerateDeviceExtensionProperties")
        return over(list_extensions, real, &listed);
    if (symbol == "vkGetPhysicalDeviceFeatures2")
        return over(get_features, real, &features_got);
    if (symbol == "vkGetPhysicalDeviceProperties2")
        return over(get_properties, real, &properties_got);
    if (symbol == "vkCreateDevice")
        return over(create_device, real, &device_created);
    if (symbol == "vkAllocateMemory")
        return over(allocate_memory, real, &memory_allocated);
    if (symbol == "vkFreeMemory")
        return over(free_memory, real, &memory_freed);
    if (symbol == "vkMapMemory")
        map_memory = reinterpret_cast<PFN_vkMapMemory>(real);
    if (symbol == "vkUnmapMemory")
        unmap_memory = reinterpret_cast<PFN_vkUnmapMemory>(real);
    if (symbol == "vkMapMemory2KHR")
        return reinterpret_cast<PFN_vkVoidFunction>(&mapped);
    if (symbol == "vkUnmapMemory2KHR")
        return reinterpret_cast<PFN_vkVoidFunction>(&unmapped);
    return real;
}

void placed_layer_can_reserve(bool can) {
    can_reserve = can;
}

} // namespace barmap::test
