// SPDX-License-Identifier: MIT
#pragma once

#include "map/vulkan/functions.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace barmap::test {

/// What was made with Vulkan and is still there.
struct live_objects {
    int instances = 0, devices = 0, memories = 0, maps = 0;
    bool operator==(live_objects const&) const = default;
};
std::ostream& operator<<(std::ostream& out, live_objects const& live);

/// Stands between barmap and the Vulkan loader for as long as it lives: writes down every call,
/// counts objects, and makes calls fail. One at a time.
class watched_vulkan {
public:
    watched_vulkan();
    watched_vulkan(watched_vulkan const&) = delete;
    watched_vulkan& operator=(watched_vulkan const&) = delete;
    ~watched_vulkan();

    /// The call_number-th call from now (1 is the next one) that can fail does. 0: none does.
    void fail(unsigned call_number, VkResult with);
    /// Every call of one function fails.
    void fail(std::string function, VkResult with);
    /// Nobody finds this function.
    void hide(std::string function);
    /// The loader cannot be loaded.
    void hide_loader();
    /// The device has VK_EXT_map_memory_placed, by placed_layer.
    void add_placed_mapping();
    /// The device has all extensions but this one.
    void hide_extension(std::string extension);
    /// The device has these heaps and memory types instead of its own. Nothing may be allocated.
    void show_memory(VkPhysicalDeviceMemoryProperties const& memory);

    [[nodiscard]] live_objects live() const;
    /// Names of the calls so far, in order.
    [[nodiscard]] std::vector<std::string> const& calls() const;
    /// Notes something else in the same list.
    void note(std::string what);
};

} // namespace barmap::test
