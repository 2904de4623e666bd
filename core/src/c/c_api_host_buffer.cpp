// SPDX-License-Identifier: MIT
#include <barmap/barmap.hpp>
#include <barmap/host_buffer.h>

#include "c/c_boundary.hpp"

#include <cstddef>
#include <cstdint>

struct barmap_host_buffer {
    barmap::host_buffer buffer;
};

extern "C" {

int barmap_host_buffer_create(barmap_device* device, std::size_t bytes, barmap_host_buffer** out) {
    static constexpr char operation[] = "allocate host memory";
    return barmap::c::make(out, operation, [&] {
        return barmap_host_buffer{
            barmap::c::expect(device, operation, "create a device first").device.allocate_host(bytes)};
    });
}

void* barmap_host_buffer_data(barmap_host_buffer const* buffer) {
    return buffer->buffer.data();
}

std::size_t barmap_host_buffer_size(barmap_host_buffer const* buffer) {
    return buffer->buffer.size();
}

std::uint64_t barmap_host_buffer_gpu_address(barmap_host_buffer const* buffer) {
    return buffer->buffer.gpu_address();
}

void barmap_host_buffer_destroy(barmap_host_buffer* buffer) {
    barmap::c::free_handle(buffer);
}

} // extern "C"
