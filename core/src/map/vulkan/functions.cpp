// SPDX-License-Identifier: MIT
#include "map/vulkan/functions.hpp"

#include <barmap/error.hpp>

#include <string>

namespace barmap::backend::vulkan {
namespace {

template <class Function>
void take(Function& member, PFN_vkVoidFunction address, char const* symbol) {
    if (!address)
        throw error(errc::backend_absent, std::string("find the function ") + symbol, "",
                    "update the Vulkan loader (libvulkan1) and the GPU's driver");
    member = reinterpret_cast<Function>(address);
}

char const* advice_for(VkResult result) noexcept {
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return "free memory of this process, or raise its limits (ulimit -v, "
               "/proc/sys/vm/max_map_count)";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return "free GPU memory or ask for less; without Resizable BAR only 256 MiB can be seen by "
               "the CPU: switch it on in the firmware's set-up";
    case VK_ERROR_MEMORY_MAP_FAILED:
        return "unmap something or map less: the GPU's BAR1 aperture or the process's address "
               "space is used up";
    case VK_ERROR_INVALID_EXTERNAL_HANDLE:
        return "the Vulkan driver does not accept this memory: let barmap allocate it, or use "
               "backend rm";
    case VK_ERROR_INITIALIZATION_FAILED:
    case VK_ERROR_INCOMPATIBLE_DRIVER:
        return "check with vulkaninfo that the GPU's Vulkan driver works for this user, and that "
               "its version is that of the kernel driver";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_FEATURE_NOT_PRESENT:
        return "update the GPU's driver, or use backend rm";
    case VK_ERROR_DEVICE_LOST:
        return "the GPU was reset or fell off the bus: see dmesg, then restart the process";
    case VK_ERROR_TOO_MANY_OBJECTS:
        return "hold fewer pins at once: Vulkan limits how many memory objects there are";
    default:
        return "see this code in the Vulkan specification, and use backend rm meanwhile";
    }
}

} // namespace

void functions::load_global(os::library const& loader) {
    constexpr char entry[] = "vkGetInstanceProcAddr";
    take(get_instance_proc_addr, reinterpret_cast<PFN_vkVoidFunction>(loader.symbol(entry)), entry);
#define BARMAP_VULKAN_TAKE(member, symbol)                                                         \
    take(member, get_instance_proc_addr(nullptr, #symbol), #symbol);
    BARMAP_VULKAN_GLOBAL_FUNCTIONS(BARMAP_VULKAN_TAKE)
#undef BARMAP_VULKAN_TAKE
}

void functions::load(VkInstance instance) {
#define BARMAP_VULKAN_TAKE(member, symbol)                                                         \
    take(member, get_instance_proc_addr(instance, #symbol), #symbol);
    BARMAP_VULKAN_INSTANCE_FUNCTIONS(BARMAP_VULKAN_TAKE)
#undef BARMAP_VULKAN_TAKE
}

void functions::load(VkDevice device, bool placed) {
#define BARMAP_VULKAN_TAKE(member, symbol)                                                         \
    take(member, get_device_proc_addr(device, #symbol), #symbol);
    BARMAP_VULKAN_DEVICE_FUNCTIONS(BARMAP_VULKAN_TAKE)
#undef BARMAP_VULKAN_TAKE
    if (!placed)
        return;
    take(map_memory2, get_device_proc_addr(device, "vkMapMemory2KHR"), "vkMapMemory2KHR");
    take(unmap_memory2, get_device_proc_addr(device, "vkUnmapMemory2KHR"), "vkUnmapMemory2KHR");
}

void check(VkResult result, std::string_view operation) {
    if (result != VK_SUCCESS)
        throw error({static_cast<int>(result), vulkan_category()}, std::string(operation), "",
                    advice_for(result));
}

} // namespace barmap::backend::vulkan
