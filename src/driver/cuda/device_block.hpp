// SPDX-License-Identifier: MIT
#pragma once

#include "base/process.hpp"
#include "driver/cuda/types.hpp"

#include <cstddef>

namespace barmap::cuda {

/// cudaMalloc memory of our own, in whatever context there is on the GPU. Freed only if it is still
/// there: the context may have been destroyed before.
class device_block {
public:
    /// @throws error
    device_block(CUdevice device, std::size_t bytes);
    device_block(device_block const&) = delete;
    device_block& operator=(device_block const&) = delete;
    ~device_block();
    [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }
    /// Whether it is still this memory, and not other memory, or none, at its address.
    [[nodiscard]] bool is_still_there() const noexcept;

private:
    os::process_id process_ = os::this_process();
    CUcontext owner_ = nullptr;
    CUdeviceptr address_ = 0;
    unsigned long long id_ = 0;
};

} // namespace barmap::cuda
