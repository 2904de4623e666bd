// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/virtual_block.hpp"
#include "gpu/device_state.hpp"
#include "transfer/engine/engine_reach.hpp"
#include "transfer/measured_plan.hpp"

#include <memory>
#include <string_view>

namespace barmap {

struct pin_state {
    /// Both are null of memory that was opened by a descriptor, which need not have CUDA.
    std::shared_ptr<device_state> device;
    backend_slot* slot = nullptr;
    std::string_view backend;
    cuda::pci_location gpu;
    bool simulated = false;
    os::process_id owner = os::this_process();
    CUdeviceptr address = 0;
    std::size_t size = 0;
    memory_kind memory = memory_kind::unknown;
    std::unique_ptr<cuda::virtual_block> block; ///< what device::allocate made for the backend
    std::unique_ptr<backend::pinned> pinned;    ///< goes before it
    engine_reach engines;                       ///< the copy engines that reach the memory

    /// @throws error errc::forked_child in a child of the process that pinned the memory
    void expect_own_process(std::string_view operation) const;

    /// How to copy through mappings with this kind of caching. @throws error
    [[nodiscard]] copy_plan plan(cache_kind kind) const;
};

struct mapping_state {
    std::shared_ptr<pin_state const> pin;
    std::unique_ptr<backend::mapped> mapped;
    copy_plan plan{};
};

} // namespace barmap
