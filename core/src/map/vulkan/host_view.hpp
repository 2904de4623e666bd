// SPDX-License-Identifier: MIT
#pragma once

#include "map/vulkan/memory_reference.hpp"
#include "system/region.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace barmap::backend::vulkan {

/// CPU addresses of one memory object, or of several as one range. Vulkan maps an object once at a
/// time, so at most one view of an object exists. Goes before the objects.
/// A forked child does not inherit the addresses, and there its destructor does nothing.
class host_view {
public:
    /// @pre several objects only if session.placed_alignment() is not 0 and divides their sizes
    /// @throws error
    host_view(gpu_session const& session, std::span<memory_reference const> objects);
    host_view(host_view const&) = delete;
    host_view& operator=(host_view const&) = delete;
    ~host_view();

    [[nodiscard]] std::byte* data() const noexcept { return data_; }

private:
    explicit host_view(gpu_session const& session) noexcept : session_(session) {}
    void map(memory_reference const& object);
    void map_contiguous(std::span<memory_reference const> objects);
    void keep_from_children(std::size_t bytes) const;

    gpu_session const& session_;
    os::region region_; ///< holds the addresses of several objects
    std::vector<VkDeviceMemory> mapped_;
    std::byte* data_ = nullptr;
};

} // namespace barmap::backend::vulkan
