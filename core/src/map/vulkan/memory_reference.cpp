// SPDX-License-Identifier: MIT
#include "map/vulkan/memory_reference.hpp"

#include <limits>
#include <string>

namespace barmap::backend::vulkan {
namespace {

constexpr VkExternalMemoryHandleTypeFlagBits opaque_fd =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

/// Tries the memory types in turn. A type whose heap is too small is left out: Vulkan forbids to
/// ask for it.
template <class Attempt>
memory_type first_that_takes(gpu_session const& session, std::size_t size,
                             std::string const& operation, Attempt attempt) {
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    for (memory_type const& type : session.memory_types()) {
        if (size > type.heap_size)
            continue;
        result = attempt(type);
        if (result == VK_SUCCESS)
            return type;
    }
    check(result, operation);
    return session.memory_types().front(); // not reached: nothing but VK_SUCCESS passes check
}

} // namespace

std::size_t payload_size(std::size_t bytes) noexcept {
    // A size of whole GPU pages, so that no mapping ends inside one.
    constexpr std::size_t page = 64 * 1024;
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / page * page;
    return bytes > most ? most : (bytes + page - 1) / page * page;
}

memory_reference memory_reference::allocate(std::shared_ptr<gpu_session const> session,
                                            std::size_t bytes) {
    std::size_t const size = payload_size(bytes);
    VkExportMemoryAllocateInfo shared{};
    shared.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
    shared.handleTypes = opaque_fd;
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.pNext = &shared;
    info.allocationSize = size;
    VkDeviceMemory handle = VK_NULL_HANDLE;
    memory_type const type = first_that_takes(
        *session, size, "allocate " + std::to_string(bytes) + " bytes of GPU memory",
        [&](memory_type const& candidate) {
            info.memoryTypeIndex = candidate.index;
            return session->vk().allocate_memory(session->device(), &info, nullptr, &handle);
        });
    return memory_reference(std::move(session), handle, size, type.cached);
}

memory_reference memory_reference::import(std::shared_ptr<gpu_session const> session,
                                          int descriptor, std::size_t bytes) {
    std::size_t const size = payload_size(bytes);
    VkImportMemoryFdInfoKHR source{};
    source.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR;
    source.handleType = opaque_fd;
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.pNext = &source;
    info.allocationSize = size;
    VkDeviceMemory handle = VK_NULL_HANDLE;
    memory_type const type = first_that_takes(
        *session, size, "import " + std::to_string(bytes) + " bytes of GPU memory into Vulkan",
        [&](memory_type const& candidate) {
            info.memoryTypeIndex = candidate.index;
            return hand_over(descriptor, [&](int copy) {
                source.fd = copy;
                return session->vk().allocate_memory(session->device(), &info, nullptr, &handle);
            });
        });
    return memory_reference(std::move(session), handle, size, type.cached);
}

memory_reference::~memory_reference() {
    if (handle_ && session_->usable())
        session_->vk().free_memory(session_->device(), handle_, nullptr);
}

os::fd memory_reference::export_fd() const {
    VkMemoryGetFdInfoKHR info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
    info.memory = handle_;
    info.handleType = opaque_fd;
    int descriptor = -1;
    check(session_->vk().get_memory_fd(session_->device(), &info, &descriptor),
          "export GPU memory from Vulkan");
    return os::fd(descriptor);
}

} // namespace barmap::backend::vulkan
