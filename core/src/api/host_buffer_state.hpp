// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/host_registration.hpp"
#include "gpu/device_state.hpp"
#include "system/region.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace barmap {

struct host_buffer_state {
    /// @throws error errc::invalid_argument for 0 bytes, or what the system or CUDA reports
    host_buffer_state(std::shared_ptr<device_state> of, std::size_t bytes);
    host_buffer_state(host_buffer_state const&) = delete;
    host_buffer_state& operator=(host_buffer_state const&) = delete;
    ~host_buffer_state();

    static std::size_t whole_pages(std::size_t bytes);

    std::shared_ptr<device_state> device;
    std::size_t size;
    os::region region;
    std::optional<cuda::host_registration> registration; ///< goes before it
    std::optional<cuda::host_allocation> allocation;     ///< where CUDA registers no such memory
    std::byte* data = nullptr;
    std::uintptr_t gpu_address = 0;
};

} // namespace barmap
