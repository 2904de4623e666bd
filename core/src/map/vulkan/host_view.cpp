// SPDX-License-Identifier: MIT
#include "map/vulkan/host_view.hpp"

#include "system/calls.hpp"

#include <cerrno>
#include <cstdint>
#include <new>
#include <sys/mman.h>

namespace barmap::backend::vulkan {
namespace {

std::byte* round_up(std::byte* address, std::size_t to) noexcept {
    auto const value = reinterpret_cast<std::uintptr_t>(address);
    return address + ((value + to - 1) / to * to - value);
}

} // namespace

// Delegating makes the object whole first, so that its destructor undoes a mapping that is half
// done.
host_view::host_view(gpu_session const& session, std::span<memory_reference const> objects)
    : host_view(session) {
    mapped_.reserve(objects.size());
    if (objects.size() == 1)
        map(objects.front());
    else
        map_contiguous(objects);
}

host_view::~host_view() {
    if (!session_.usable())
        return;
    functions const& vk = session_.vk();
    bool released = true;
    for (VkDeviceMemory object : mapped_) {
        if (!region_.data()) {
            vk.unmap_memory(session_.device(), object);
            continue;
        }
        abi::unmap_info info;
        info.flags = abi::unmap_reserve_bit;
        info.memory = object;
        if (vk.unmap_memory2(session_.device(), &info) != VK_SUCCESS)
            released = false;
    }
    // Still mapped there. Freeing the memory will unmap it, so the addresses may never be
    // freed: by then they could be someone else's.
    if (!released) {
        alignas(os::region) std::byte never_destroyed[sizeof(os::region)];
        ::new (never_destroyed) os::region(std::move(region_));
    }
}

void host_view::map(memory_reference const& object) {
    void* address = nullptr;
    check(
        session_.vk().map_memory(session_.device(), object.handle(), 0, VK_WHOLE_SIZE, 0, &address),
        "map GPU memory with Vulkan");
    mapped_.push_back(object.handle());
    data_ = static_cast<std::byte*>(address);
    keep_from_children(object.size());
}

void host_view::map_contiguous(std::span<memory_reference const> objects) {
    auto const alignment = static_cast<std::size_t>(session_.placed_alignment());
    std::size_t total = 0;
    for (memory_reference const& object : objects)
        total += object.size();
    region_ = os::region::reserve(total + alignment - os::page_size());
    data_ = round_up(region_.data(), alignment);
    std::byte* at = data_;
    for (memory_reference const& object : objects) {
        abi::map_placed_info place;
        place.address = at;
        abi::map_info info;
        info.next = &place;
        info.flags = abi::map_placed_bit;
        info.memory = object.handle();
        info.size = VK_WHOLE_SIZE;
        void* address = nullptr;
        VkResult const mapped = session_.vk().map_memory2(session_.device(), &info, &address);
        if (mapped != VK_SUCCESS)
            region_.reclaim(static_cast<std::size_t>(at - region_.data()), object.size());
        check(mapped, "map GPU memory with Vulkan at a chosen address");
        mapped_.push_back(object.handle());
        at += object.size();
    }
    keep_from_children(total);
}

void host_view::keep_from_children(std::size_t bytes) const {
    // Only whole pages: other objects may use the rest of a page, in children as well.
    std::size_t const page = os::page_size();
    std::byte* const first = round_up(data_, page);
    std::size_t const lost = static_cast<std::size_t>(first - data_);
    std::size_t const whole = bytes > lost ? (bytes - lost) / page * page : 0;
    if (whole && os::current().madvise(first, whole, MADV_DONTFORK) != 0) {
        int const code = errno;
        throw error({code, std::system_category()}, "keep a mapping out of forked children", "",
                    "the process has too many mappings: see /proc/sys/vm/max_map_count");
    }
}

} // namespace barmap::backend::vulkan
