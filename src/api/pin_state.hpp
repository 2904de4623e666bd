// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/virtual_block.hpp"
#include "gpu/device_state.hpp"
#include "transfer/engine/engine_reach.hpp"
#include "transfer/measured_plan.hpp"

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
    engine_reach engines;                       ///< the copy engines that reach the memory

    /// How to copy through mappings with this kind of caching. @throws error
    [[nodiscard]] copy_plan plan(cache_kind kind) const;
};

struct mapping_state {
    std::shared_ptr<pin_state const> pin;
    std::unique_ptr<backend::mapped> mapped;
    copy_plan plan{};
};

} // namespace barmap
