// SPDX-License-Identifier: MIT
#include "watched_vulkan.hpp"

#include "placed_layer.hpp"
#include "system/calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <ostream>
#include <type_traits>
#include <utility>

namespace barmap::test {
namespace {

namespace abi = backend::vulkan::abi;

struct watch_state {
    std::mutex lock;
    std::vector<std::string> calls;
    live_objects live;
    unsigned countdown = 0;
    VkResult code = VK_SUCCESS;
    std::string failing;
    std::set<std::string> hidden;
    std::string hidden_extension;
    bool no_loader = false;
    bool placed = false;
    std::optional<VkPhysicalDeviceMemoryProperties> memory;
    PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;
    PFN_vkGetDeviceProcAddr get_device_proc_addr = nullptr;
};

watch_state* watch = nullptr;

/// Notes a call. @return the code that it is to fail with, if it can
VkResult enter(char const* symbol, bool can_fail) {
    std::lock_guard const guard(watch->lock);
    watch->calls.emplace_back(symbol);
    if (!can_fail)
        return VK_SUCCESS;
    if (watch->failing == symbol || (watch->countdown != 0 && --watch->countdown == 0))
        return watch->code;
    return VK_SUCCESS;
}

void leave(std::string_view symbol) {
    std::lock_guard const guard(watch->lock);
    live_objects& live = watch->live;
    live.instances += (symbol == "vkCreateInstance") - (symbol == "vkDestroyInstance");
    live.devices += (symbol == "vkCreateDevice") - (symbol == "vkDestroyDevice");
    live.memories += (symbol == "vkAllocateMemory") - (symbol == "vkFreeMemory");
    live.maps += (symbol == "vkMapMemory" || symbol == "vkMapMemory2KHR") -
                 (symbol == "vkUnmapMemory" || symbol == "vkUnmapMemory2KHR");
}

bool is(void const* structure, VkStructureType type) {
    return structure && static_cast<VkBaseInStructure const*>(structure)->sType == type;
}

/// Whether a call's argument, and what it points to, says what it is: drivers rely on that without
/// looking.
template <class Argument>
bool says_what_it_is(Argument) {
    return true;
}
bool says_what_it_is(VkInstanceCreateInfo const* info) {
    return is(info, VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO) &&
           is(info->pApplicationInfo, VK_STRUCTURE_TYPE_APPLICATION_INFO);
}
bool says_what_it_is(VkDeviceCreateInfo const* info) {
    return is(info, VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO) && info->queueCreateInfoCount == 1 &&
           is(info->pQueueCreateInfos, VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
}
bool says_what_it_is(VkPhysicalDeviceFeatures2* features) {
    return is(features, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
}
bool says_what_it_is(VkPhysicalDeviceProperties2* properties) {
    return is(properties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
}
bool says_what_it_is(VkMemoryAllocateInfo const* info) {
    return is(info, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO) &&
           (is(info->pNext, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO) ||
            is(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR));
}
bool says_what_it_is(VkMemoryGetFdInfoKHR const* info) {
    return is(info, VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR);
}

/// A function's name as a template argument.
template <std::size_t Size>
struct symbol_name {
    char text[Size];
    constexpr symbol_name(char const (&from)[Size]) { std::copy(from, from + Size, text); }
};

template <symbol_name Name, class Function>
struct wrapped;

template <symbol_name Name, class Result, class... Arguments>
struct wrapped<Name, Result(VKAPI_PTR*)(Arguments...)> {
    static inline Result(VKAPI_PTR* real)(Arguments...) = nullptr;
    static VKAPI_ATTR Result VKAPI_CALL call(Arguments... arguments) {
        constexpr bool can_fail = std::is_same_v<Result, VkResult>;
        EXPECT_TRUE((says_what_it_is(arguments) && ...)) << Name.text;
        VkResult const planned = enter(Name.text, can_fail);
        if constexpr (can_fail) {
            if (planned != VK_SUCCESS)
                return planned;
            VkResult const result = real(arguments...);
            if (result == VK_SUCCESS)
                leave(Name.text);
            return result;
        } else {
            real(arguments...);
            leave(Name.text);
        }
    }
};

template <symbol_name Name, class Function>
PFN_vkVoidFunction wrap(PFN_vkVoidFunction real) {
    using wrapper = wrapped<Name, Function>;
    wrapper::real = reinterpret_cast<Function>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(&wrapper::call);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, char const* symbol);

VKAPI_ATTR void VKAPI_CALL get_shown_memory(VkPhysicalDevice,
                                            VkPhysicalDeviceMemoryProperties* memory) {
    *memory = *watch->memory;
}

PFN_vkEnumerateDeviceExtensionProperties real_extensions = nullptr;

/// A name of nothing stands for the one that is hidden.
VKAPI_ATTR VkResult VKAPI_CALL list_other_extensions(VkPhysicalDevice physical, char const* layer,
                                                     std::uint32_t* count,
                                                     VkExtensionProperties* properties) {
    VkResult const result = real_extensions(physical, layer, count, properties);
    for (std::uint32_t i = 0; properties && i < *count; ++i)
        if (properties[i].extensionName == watch->hidden_extension)
            properties[i].extensionName[0] = '\0';
    return result;
}

PFN_vkVoidFunction intercept(char const* symbol, PFN_vkVoidFunction real) {
    std::string_view const wanted = symbol;
    if (watch->hidden.contains(std::string(wanted)))
        return nullptr;
    if (watch->placed)
        real = placed_layer(wanted, real);
    if (!real)
        return nullptr;
    if (wanted == "vkGetPhysicalDeviceMemoryProperties" && watch->memory)
        return reinterpret_cast<PFN_vkVoidFunction>(&get_shown_memory);
    if (wanted == "vkEnumerateDeviceExtensionProperties" && !watch->hidden_extension.empty()) {
        real_extensions = reinterpret_cast<PFN_vkEnumerateDeviceExtensionProperties>(real);
        return reinterpret_cast<PFN_vkVoidFunction>(&list_other_extensions);
    }
    if (wanted == "vkGetDeviceProcAddr") {
        watch->get_device_proc_addr = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
        return reinterpret_cast<PFN_vkVoidFunction>(&get_device_proc_addr);
    }
#define BARMAP_TEST_WRAP_AS(function, type)                                                        \
    if (wanted == #function)                                                                       \
        return wrap<#function, type>(real);
#define BARMAP_TEST_WRAP(member, function)                                                         \
    if constexpr (!std::is_same_v<PFN_##function, PFN_vkGetDeviceProcAddr>)                        \
    BARMAP_TEST_WRAP_AS(function, PFN_##function)
    BARMAP_VULKAN_GLOBAL_FUNCTIONS(BARMAP_TEST_WRAP)
    BARMAP_VULKAN_INSTANCE_FUNCTIONS(BARMAP_TEST_WRAP)
    BARMAP_VULKAN_DEVICE_FUNCTIONS(BARMAP_TEST_WRAP)
    BARMAP_TEST_WRAP_AS(vkMapMemory2KHR, abi::map_memory2_function)
    BARMAP_TEST_WRAP_AS(vkUnmapMemory2KHR, abi::unmap_memory2_function)
#undef BARMAP_TEST_WRAP
#undef BARMAP_TEST_WRAP_AS
    return real;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, char const* symbol) {
    return intercept(symbol, watch->get_device_proc_addr(device, symbol));
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance,
                                                                char const* symbol) {
    return intercept(symbol, watch->get_instance_proc_addr(instance, symbol));
}

void* open_library(char const* file, int flags) {
    if (watch->no_loader && std::strstr(file, "libvulkan"))
        return os::linux_calls().dlopen("libvulkan-that-is-not-there.so.1", flags);
    return os::linux_calls().dlopen(file, flags);
}

void* find_symbol(void* library, char const* symbol) {
    void* const address = os::linux_calls().dlsym(library, symbol);
    if (std::strcmp(symbol, "vkGetInstanceProcAddr") != 0)
        return address;
    watch->get_instance_proc_addr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(address);
    return reinterpret_cast<void*>(&get_instance_proc_addr);
}

os::calls const& seam() {
    static os::calls const table = [] {
        os::calls result = os::linux_calls();
        result.dlopen = open_library;
        result.dlsym = find_symbol;
        return result;
    }();
    return table;
}

} // namespace

std::ostream& operator<<(std::ostream& out, live_objects const& live) {
    return out << live.instances << " instances, " << live.devices << " devices, " << live.memories
               << " memories, " << live.maps << " maps";
}

watched_vulkan::watched_vulkan() {
    watch = new watch_state;
    os::replace(&seam());
}

watched_vulkan::~watched_vulkan() {
    os::replace(nullptr);
    delete std::exchange(watch, nullptr);
}

void watched_vulkan::fail(unsigned call_number, VkResult with) {
    watch->countdown = call_number;
    watch->code = with;
}

void watched_vulkan::fail(std::string function, VkResult with) {
    watch->failing = std::move(function);
    watch->code = with;
}

void watched_vulkan::hide(std::string function) {
    watch->hidden = {std::move(function)};
}

void watched_vulkan::hide_extension(std::string extension) {
    watch->hidden_extension = std::move(extension);
}

void watched_vulkan::hide_loader() {
    watch->no_loader = true;
}

void watched_vulkan::add_placed_mapping() {
    watch->placed = true;
}

void watched_vulkan::show_memory(VkPhysicalDeviceMemoryProperties const& memory) {
    watch->memory = memory;
}

live_objects watched_vulkan::live() const {
    return watch->live;
}

std::vector<std::string> const& watched_vulkan::calls() const {
    return watch->calls;
}

void watched_vulkan::note(std::string what) {
    std::lock_guard const guard(watch->lock);
    watch->calls.push_back(std::move(what));
}

} // namespace barmap::test
