// SPDX-License-Identifier: MIT
#include "map/vulkan/gpu_session.hpp"

#include "cuda/driver_lifetime.hpp"
#include "system/region.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace barmap::backend::vulkan {
namespace {

constexpr char install_driver[] =
    "install the Vulkan part of NVIDIA's driver (nvidia_icd.json, libGLX_nvidia.so.0); a container "
    "gets it with NVIDIA_DRIVER_CAPABILITIES=all, or graphics,compute,utility";

[[noreturn]] void absent(std::string operation, std::string advice) {
    throw error(errc::backend_absent, std::move(operation), "", std::move(advice));
}

os::library open_loader() {
    std::array<std::string, 1> const names{"libvulkan.so.1"};
    std::string why;
    os::library loader = os::library::open(names, why);
    if (!loader)
        absent("load the Vulkan loader (" + why + ")",
               "install the Vulkan loader: libvulkan1 on Debian and Ubuntu, vulkan-loader on "
               "Fedora, RHEL and conda-forge");
    return loader;
}

std::vector<VkExtensionProperties> extensions_of(functions const& vk, VkPhysicalDevice physical) {
    std::vector<VkExtensionProperties> result;
    VkResult status = VK_INCOMPLETE;
    while (status == VK_INCOMPLETE) { // the list may grow between the two calls
        std::uint32_t count = 0;
        check(vk.enumerate_device_extensions(physical, nullptr, &count, nullptr),
              "count the GPU's Vulkan extensions");
        result.resize(count);
        status = vk.enumerate_device_extensions(physical, nullptr, &count, result.data());
        result.resize(count);
    }
    check(status, "list the GPU's Vulkan extensions");
    return result;
}

bool contains(std::vector<VkExtensionProperties> const& extensions, char const* wanted) {
    return std::any_of(extensions.begin(), extensions.end(), [wanted](auto const& extension) {
        return std::strcmp(extension.extensionName, wanted) == 0;
    });
}

std::vector<VkPhysicalDevice> physical_devices(functions const& vk, VkInstance instance) {
    std::vector<VkPhysicalDevice> result;
    VkResult status = VK_INCOMPLETE;
    while (status == VK_INCOMPLETE) {
        std::uint32_t count = 0;
        status = vk.enumerate_physical_devices(instance, &count, nullptr);
        // Older loaders return it if there are drivers, but none of them finds a device.
        if (status == VK_ERROR_INITIALIZATION_FAILED)
            return {};
        check(status, "count Vulkan's devices");
        result.resize(count);
        status = vk.enumerate_physical_devices(instance, &count, result.data());
        result.resize(count);
    }
    check(status, "list Vulkan's devices");
    return result;
}

/// Alignment for placed mapping, or 0 where it cannot be undone safely.
VkDeviceSize placed_alignment_of(functions const& vk, VkPhysicalDevice physical) {
    abi::map_placed_features placed;
    VkPhysicalDeviceFeatures2 features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.pNext = &placed;
    vk.get_features(physical, &features);
    // Without the second one, unmapping leaves a hole that another thread's mmap may fill before
    // we release the range around it.
    if (!placed.map_placed || !placed.unmap_reserve)
        return 0;
    abi::map_placed_properties limits;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &limits;
    vk.get_properties(physical, &properties);
    return std::max<VkDeviceSize>(limits.alignment, os::page_size());
}

} // namespace

gpu_session::gpu_session() : owner_(os::this_process()) {}

// Delegating makes the object whole first, so that its destructor undoes what the steps below did
// if one of them throws.
gpu_session::gpu_session(gpu const& gpu) : gpu_session() {
    create_instance();
    VkPhysicalDevice const physical = find(gpu);
    find_memory_types(physical);
    create_device(physical);
    cuda::watch_exit();
}

gpu_session::~gpu_session() {
    if (!usable())
        return;
    if (device_ && vk_.destroy_device)
        vk_.destroy_device(device_, nullptr);
    if (instance_ && vk_.destroy_instance)
        vk_.destroy_instance(instance_, nullptr);
}

void gpu_session::expect_usable(std::string_view operation) const {
    if (!usable())
        throw error(errc::forked_child, std::string(operation), "",
                    "use barmap in the process that opened the device, before it exits");
}

void gpu_session::create_instance() {
    os::library loader = open_loader();
    vk_.load_global(loader);

    std::uint32_t version = 0;
    check(vk_.enumerate_instance_version(&version), "read the Vulkan loader's version");
    if (version < VK_API_VERSION_1_1)
        absent("use a Vulkan 1.0 loader", "update it (libvulkan1) to 1.1 or newer");

    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.pEngineName = "barmap";
    application.apiVersion = VK_API_VERSION_1_1;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    VkResult const created = vk_.create_instance(&info, nullptr, &instance_);
    if (created != VK_SUCCESS)
        instance_ = nullptr;
    if (created == VK_ERROR_INCOMPATIBLE_DRIVER) // the loader finds no driver
        absent("find a Vulkan driver", install_driver);
    check(created, "create a Vulkan instance");
    // Drivers leave threads and thread-local destructors behind, so the loader stays from here on.
    loader.abandon();
    // It unloads the driver with the last instance. NVIDIA's uses static thread-local storage,
    // which is never freed: after 30 times it could not be loaded any more (580.159.04).
    for (char const* const driver : {"libGLX_nvidia.so.0", "libEGL_nvidia.so.0"})
        os::keep_loaded(driver);
    vk_.load(instance_);
}

VkPhysicalDevice gpu_session::find(gpu const& gpu) const {
    std::string seen;
    for (VkPhysicalDevice physical : physical_devices(vk_, instance_)) {
        VkPhysicalDeviceIDProperties id{};
        id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
        VkPhysicalDeviceProperties2 properties{};
        properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
        properties.pNext = &id;
        vk_.get_properties(physical, &properties);
        static_assert(sizeof id.deviceUUID == sizeof gpu.uuid.bytes);
        if (properties.properties.apiVersion >= VK_API_VERSION_1_1 &&
            std::memcmp(id.deviceUUID, gpu.uuid.bytes, sizeof gpu.uuid.bytes) == 0)
            return physical;
        seen += (seen.empty() ? "" : ", ") + std::string(properties.properties.deviceName);
    }
    absent("find " + gpu.name + " by its UUID among Vulkan's devices (" +
               (seen.empty() ? "there is none" : seen) + ")",
           gpu.simulated ? "give the simulated GPU the UUID of a software Vulkan device: "
                           "BARMAP_SIM_UUID"
                         : install_driver);
}

void gpu_session::find_memory_types(VkPhysicalDevice physical) {
    constexpr VkMemoryPropertyFlags needed = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                             VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                             VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties memory{};
    vk_.get_memory_properties(physical, &memory);
    for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
        VkMemoryType const& type = memory.memoryTypes[i];
        VkMemoryHeap const& heap = memory.memoryHeaps[type.heapIndex];
        // A type in another heap would be system memory that the GPU reaches over the bus.
        if ((type.propertyFlags & needed) == needed &&
            (heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT))
            types_.push_back(
                {i, heap.size, (type.propertyFlags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0});
    }
    if (types_.empty())
        absent("find GPU memory that the CPU can map",
               "switch on Resizable BAR and 'Above 4G decoding' in the firmware's set-up");
    std::stable_sort(types_.begin(), types_.end(),
                     [](auto const& a, auto const& b) { return a.heap_size > b.heap_size; });
}

void gpu_session::create_device(VkPhysicalDevice physical) {
    std::vector<VkExtensionProperties> const offered = extensions_of(vk_, physical);
    std::vector<char const*> wanted{VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME};
    if (!contains(offered, wanted.front()))
        absent("share memory between Vulkan and CUDA (VK_KHR_external_memory_fd)",
               "update the GPU's driver, or use backend rm");
    if (contains(offered, abi::map_memory2_extension) &&
        contains(offered, abi::map_memory_placed_extension))
        placed_alignment_ = placed_alignment_of(vk_, physical);

    abi::map_placed_features placed;
    placed.map_placed = placed.unmap_reserve = VK_TRUE;
    float const priority = 1;
    VkDeviceQueueCreateInfo queue{}; // never used, but Vulkan wants at least one
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    if (placed_alignment_) {
        info.pNext = &placed;
        wanted.insert(wanted.end(), {abi::map_memory2_extension, abi::map_memory_placed_extension});
    }
    info.enabledExtensionCount = static_cast<std::uint32_t>(wanted.size());
    info.ppEnabledExtensionNames = wanted.data();
    VkResult const created = vk_.create_device(physical, &info, nullptr, &device_);
    if (created != VK_SUCCESS)
        device_ = nullptr;
    check(created, "open the GPU with Vulkan");
    vk_.load(device_, placed_alignment_ != 0);
}

} // namespace barmap::backend::vulkan
