// SPDX-License-Identifier: MIT
#include "map/scratch.hpp"

namespace barmap::backend {

scratch::scratch(backend& backend, gpu const& gpu) : device_(gpu.handle) {
    if (backend.capabilities().can_register(memory_kind::device)) {
        block_ = std::make_unique<cuda::device_block>(gpu.handle, size);
        address_ = block_->address();
        pinned_ = backend.pin(cuda::describe(address_, size));
    } else {
        pinned_ = backend.allocate(size);
        address_ = pinned_->allocated_address();
    }
    mapped_ = pinned_->map();
}

scratch::~scratch() = default;

} // namespace barmap::backend
