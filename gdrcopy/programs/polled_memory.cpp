// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/polled_memory.hpp"

#include <barmap/copy.hpp>

#include <atomic>
#include <cstring>

namespace barmap::tool::gdrcopy {
namespace {

std::uint32_t volatile* flags(std::byte* at) {
    return reinterpret_cast<std::uint32_t volatile*>(at);
}

} // namespace

polled_memory::polled_memory(place const& in, std::string const& location, std::size_t bytes) {
    if (location == "hostmem") {
        host_.emplace(bytes);
        address_ = host_->gpu_address();
        return;
    }
    buffer_.emplace(in.gpu, in.allocation, bytes);
    buffer_->fill(0);
    address_ = buffer_->address();
    range_.emplace(in.through, address_, bytes);
    range_->map(in.map_flags);
}

void polled_memory::write(void const* from, std::size_t bytes) const {
    if (range_)
        range_->write(0, from, bytes);
    else
        std::memcpy(host_->data(), from, bytes);
    flush_stores();
}

void polled_memory::read(void* to, std::size_t bytes) const {
    if (range_)
        range_->read(to, 0, bytes);
    else
        std::memcpy(to, host_->data(), bytes);
}

void polled_memory::write_flag(std::uint32_t value) const {
    if (range_)
        range_->write(0, &value, sizeof value);
    else
        *flags(host_->data()) = value;
    flush_stores();
}

std::uint32_t polled_memory::read_flag(std::size_t index) const {
    std::uint32_t value = 0;
    if (range_)
        range_->read(&value, index * sizeof value, sizeof value);
    else
        value = flags(host_->data())[index];
    std::atomic_thread_fence(std::memory_order_acquire);
    return value;
}

void polled_memory::force_flag(std::uint32_t const& value, CUstream stream) const {
    if (host_)
        *flags(host_->data()) = value;
    else
        cuda::api().memcpy_htod_async(address_, &value, sizeof value, stream);
}

} // namespace barmap::tool::gdrcopy
