// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"

#include <barmap/device.hpp>

namespace barmap::tool {

/// A GPU that a subcommand works on: the device, and its primary context kept alive.
/// Thread rule: may be shared by threads.
class opened_gpu {
public:
    /// @throws error
    explicit opened_gpu(int ordinal);

    /// Makes the GPU's context current on the calling thread for as long as the scope lives: what
    /// every driver call needs.
    [[nodiscard]] cuda::context_scope enter() const { return cuda::context_scope(context_.get()); }
    [[nodiscard]] barmap::device const& device() const noexcept { return device_; }
    [[nodiscard]] CUdevice handle() const noexcept { return handle_; }

private:
    barmap::device device_;
    CUdevice handle_ = 0;
    cuda::primary_context context_;
};

} // namespace barmap::tool
