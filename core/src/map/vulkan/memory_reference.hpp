// SPDX-License-Identifier: MIT
#pragma once

#include "map/vulkan/gpu_session.hpp"
#include "system/fd.hpp"

#include <memory>
#include <utility>

namespace barmap::backend::vulkan {

/// Vulkan's reference to a memory object: freed when the last driver that refers to it releases it.
class memory_reference {
public:
    /// Makes at least this many bytes in the GPU's own memory, exportable. @throws error
    static memory_reference allocate(std::shared_ptr<gpu_session const> session, std::size_t bytes);

    /// Takes a reference to the object behind an opaque descriptor, which stays the caller's.
    /// @param bytes size that the object was made with @throws error
    static memory_reference import(std::shared_ptr<gpu_session const> session, int descriptor,
                                   std::size_t bytes);

    memory_reference(memory_reference&& other) noexcept
        : session_(std::move(other.session_)),
          handle_(std::exchange(other.handle_, VkDeviceMemory{VK_NULL_HANDLE})), size_(other.size_),
          cached_(other.cached_) {}
    memory_reference& operator=(memory_reference&&) = delete;
    ~memory_reference();

    /// A new descriptor of allocated memory. @throws error
    [[nodiscard]] os::fd export_fd() const;

    [[nodiscard]] VkDeviceMemory handle() const noexcept { return handle_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; } ///< as Vulkan knows it
    [[nodiscard]] bool cached() const noexcept { return cached_; }

private:
    memory_reference(std::shared_ptr<gpu_session const> session, VkDeviceMemory handle,
                     std::size_t size, bool cached) noexcept
        : session_(std::move(session)), handle_(handle), size_(size), cached_(cached) {}

    std::shared_ptr<gpu_session const> session_;
    VkDeviceMemory handle_;
    std::size_t size_;
    bool cached_;
};

/// Size that Vulkan is given for a memory object of that many bytes. The same for who makes it and
/// who imports it, since Vulkan wants both to name the same size.
[[nodiscard]] std::size_t payload_size(std::size_t bytes) noexcept;

/// Runs take(descriptor) with a duplicate of a descriptor. A driver takes it over if, and only if,
/// it returns 0. @throws error with errno if there can be no duplicate
template <class Take>
auto hand_over(int descriptor, Take take) {
    os::fd copy = os::duplicate(descriptor);
    auto const result = take(copy.get());
    if (result == 0)
        (void)copy.release();
    return result;
}

} // namespace barmap::backend::vulkan
