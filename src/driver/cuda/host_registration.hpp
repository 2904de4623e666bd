// SPDX-License-Identifier: MIT
#pragma once

#include "base/process.hpp"
#include "driver/cuda/context_scope.hpp"

#include <cstddef>
#include <span>

namespace barmap::cuda {

/// Host memory that CUDA has pinned for us, for all contexts on the GPU.
class host_registration {
public:
    /// @param memory must outlive the registration. @throws error
    host_registration(CUdevice device, std::span<std::byte> memory);
    host_registration(host_registration const&) = delete;
    host_registration& operator=(host_registration const&) = delete;
    ~host_registration();

    /// The address by which the GPU reaches the first byte. @throws error
    [[nodiscard]] CUdeviceptr gpu_address() const;

private:
    os::process_id owner_ = os::this_process();
    primary_context context_;
    void* data_;
};

} // namespace barmap::cuda
