// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/driver_lifetime.hpp"
#include "map/backend.hpp"
#include "map/vulkan/functions.hpp"
#include "system/process.hpp"

#include <span>
#include <vector>

namespace barmap::backend::vulkan {

/// A memory type in the GPU's own memory that the CPU can map without flushes.
struct memory_type {
    std::uint32_t index = 0;
    VkDeviceSize heap_size = 0;
    bool cached = false; ///< the CPU caches mappings of it
};

/// One GPU, opened through Vulkan. Objects made in it hold it.
/// Thread rule: const members may be called at once.
class gpu_session {
public:
    /// @throws error errc::backend_absent if there is no loader, no driver for this GPU, or it
    /// lacks
    ///         what is needed; otherwise what failed
    explicit gpu_session(gpu const& gpu);
    gpu_session(gpu_session const&) = delete;
    gpu_session& operator=(gpu_session const&) = delete;
    ~gpu_session();

    [[nodiscard]] functions const& vk() const noexcept { return vk_; }
    [[nodiscard]] VkDevice device() const noexcept { return device_; }

    /// Never empty; the one in the largest heap first.
    [[nodiscard]] std::span<memory_type const> memory_types() const noexcept { return types_; }

    /// The alignment of addresses to which memory can be mapped; 0 if this driver chooses the
    /// addresses itself.
    [[nodiscard]] VkDeviceSize placed_alignment() const noexcept { return placed_alignment_; }

    [[nodiscard]] bool usable() const noexcept { return cuda::drivers_are_up(owner_); }

    /// @throws error errc::forked_child in a forked child
    void expect_usable(std::string_view operation) const;

private:
    gpu_session();
    void create_instance();
    [[nodiscard]] VkPhysicalDevice find(gpu const& gpu) const;
    void find_memory_types(VkPhysicalDevice physical);
    void create_device(VkPhysicalDevice physical);

    os::process_id owner_;
    functions vk_;
    VkInstance instance_ = nullptr;
    VkDevice device_ = nullptr;
    std::vector<memory_type> types_;
    VkDeviceSize placed_alignment_ = 0;
};

} // namespace barmap::backend::vulkan
