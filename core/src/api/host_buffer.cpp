// SPDX-License-Identifier: MIT
#include "api/handles.hpp"
#include "cuda/driver_api.hpp"
#include "transfer/host_reach.hpp"

#include <barmap/error.hpp>
#include <barmap/host_buffer.h>
#include <barmap/report.h>

#include <algorithm>
#include <exception>
#include <span>
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
    if (os::is_this_process(device->owner)) // in a child, a lock may be held forever
        device->pinned.remove(data);
}

std::size_t host_buffer_state::whole_pages(std::size_t bytes) {
    std::size_t const page = os::page_size();
    if (bytes == 0 || bytes > ~std::size_t{0} - page)
        throw error(errc::invalid_argument,
                    "allocate " + std::to_string(bytes) + " bytes of host memory", "",
                    "give a size greater than 0 that fits into the machine's memory");
    return (bytes + page - 1) / page * page;
}

namespace {

bool is_pinned(std::span<std::byte const> memory) noexcept try {
    std::string why;
    if (!memory.empty() && !cuda::try_api(why))
        return false;
    checkpoint::pass const here("ask which memory is pinned");
    host_reach known;
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

} // namespace
} // namespace barmap

using namespace barmap;

int barmap_is_pinned(void const* data, std::size_t bytes) {
    os::no_cancellation const uncancelled;
    return is_pinned({static_cast<std::byte const*>(data), bytes}) ? 1 : 0;
}

int barmap_host_buffer_create(barmap_device* device, std::size_t bytes, barmap_host_buffer** out) {
    static constexpr char operation[] = "allocate host memory";
    return c::make(out, operation, [&] {
        auto const& state = state_of(device, operation);
        checkpoint::pass const here = state->enter(operation, device_state::look::always);
        return std::make_unique<barmap_host_buffer>(state, bytes);
    });
}

void* barmap_host_buffer_data(barmap_host_buffer const* buffer) {
    return buffer->state.data;
}

std::size_t barmap_host_buffer_size(barmap_host_buffer const* buffer) {
    return buffer->state.size;
}

std::uint64_t barmap_host_buffer_gpu_address(barmap_host_buffer const* buffer) {
    return buffer->state.gpu_address;
}

void barmap_host_buffer_destroy(barmap_host_buffer* buffer) {
    c::free_handle(buffer);
}
