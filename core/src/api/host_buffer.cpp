// SPDX-License-Identifier: MIT
#include <barmap/host_buffer.hpp>

#include "api/host_buffer_state.hpp"
#include "cuda/driver_api.hpp"
#include "transfer/pinned_host.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <exception>
#include <string>

namespace barmap {

host_buffer_state::host_buffer_state(std::shared_ptr<device_state> of, std::size_t bytes)
    : device(std::move(of)), size(bytes), region(os::region::shared_memory(whole_pages(bytes))) {
    std::size_t const pinned = region.size();
    try {
        registration.emplace(device->gpu.handle, std::span(region.data(), pinned));
        data = region.data();
        gpu_address = registration->gpu_address();
    } catch (error const& refusal) {
        if (refusal.code() != std::error_code(cuda::error_not_supported, cuda_category()))
            throw;
        region = {};
        allocation.emplace(device->gpu.handle, pinned);
        data = allocation->data();
        gpu_address = allocation->gpu_address();
    }
    device->pinned.add(std::span(data, pinned));
}

host_buffer_state::~host_buffer_state() {
    if (os::is_this_process(device->owner)) // in a child, a lock may be held for ever
        device->pinned.remove(data);
}

std::size_t host_buffer_state::whole_pages(std::size_t bytes) {
    std::size_t const page = os::page_size();
    if (bytes == 0 || bytes > ~std::size_t{0} - page)
        throw error(errc::invalid_argument,
                    "allocate " + std::to_string(bytes) + " bytes of host memory", "",
                    "give a size greater than 0 that the machine can hold");
    return (bytes + page - 1) / page * page;
}

host_buffer::host_buffer() noexcept = default;
host_buffer::host_buffer(host_buffer&&) noexcept = default;
host_buffer& host_buffer::operator=(host_buffer&&) noexcept = default;
host_buffer::~host_buffer() = default;
host_buffer::host_buffer(std::unique_ptr<host_buffer_state> state) noexcept
    : state_(std::move(state)) {}

std::byte* host_buffer::data() const noexcept {
    return state_ ? state_->data : nullptr;
}

std::size_t host_buffer::size() const noexcept {
    return state_ ? state_->size : 0;
}

std::uintptr_t host_buffer::gpu_address() const noexcept {
    return state_ ? state_->gpu_address : 0;
}

inline namespace BARMAP_INLINE_NAMESPACE {

bool is_pinned(std::span<std::byte const> memory) noexcept try {
    std::string why;
    if (!memory.empty() && !cuda::try_api(why))
        return false;
    checkpoint::pass const here("ask which memory is pinned");
    pinned_host known;
    while (!memory.empty()) {
        auto const found = known.describe(memory.data());
        if (found.size == 0)
            return false;
        std::size_t const rest =
            found.start + found.size - reinterpret_cast<std::uintptr_t>(memory.data());
        memory = memory.subspan(std::min(memory.size(), rest));
    }
    return true;
} catch (std::exception const&) { // out of memory, or the process is prepared for a checkpoint
    return false;
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
