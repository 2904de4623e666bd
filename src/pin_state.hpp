// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/virtual_block.hpp"
#include "device_state.hpp"

#include <memory>

namespace barmap {

struct pin_state {
    std::shared_ptr<device_state> device;
    backend_slot* slot = nullptr;
    CUdeviceptr address = 0;
    std::size_t size = 0;
    memory_kind memory = memory_kind::unknown;
    std::unique_ptr<cuda::virtual_block> block; ///< what device::allocate made for the backend
    std::unique_ptr<backend::pinned> pinned;    ///< goes before it
};

struct mapping_state {
    std::shared_ptr<pin_state const> pin;
    std::unique_ptr<backend::mapped> mapped;
    copy_plan plan{};
};

} // namespace barmap
