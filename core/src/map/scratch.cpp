// SPDX-License-Identifier: MIT
#include "map/scratch.hpp"

namespace barmap::backend {

scratch::scratch(backend& backend, gpu const& gpu) : device_(gpu.handle) {
    if (backend.capabilities().can_register(memory_kind::device)) {
        block_ = std::make_unique<cuda::device_block>(gpu.handle, size);
        described_ = cuda::describe(block_->address(), size);
        pinned_ = backend.pin(described_);
    } else {
        pinned_ = backend.allocate(size);
        if (CUdeviceptr const address = pinned_->allocated_address())
            described_ = cuda::describe(address, size);
    }
    mapped_ = pinned_->map();
}

scratch::~scratch() = default;

} // namespace barmap::backend
