// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/context_scope.hpp"
#include "nvidia/cuda.hpp"
#include "system/process.hpp"

#include <cstddef>
#include <memory>

namespace barmap::backend::vulkan {

/// A memory object of Vulkan's as CUDA sees it: a device address in the calling thread's context on
/// the GPU, or in the primary context, which then lives as long as this does.
class cuda_view {
public:
    /// @param descriptor stays the caller's
    /// @param payload    size of the object as Vulkan knows it
    /// @param bytes      how much of it gets an address
    /// @throws error
    cuda_view(CUdevice device, int descriptor, std::size_t payload, std::size_t bytes);
    cuda_view(cuda_view const&) = delete;
    cuda_view& operator=(cuda_view const&) = delete;
    ~cuda_view();

    [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }

private:
    explicit cuda_view(CUdevice device);
    [[nodiscard]] bool still_there() const noexcept;

    os::process_id owner_;
    CUcontext context_ = nullptr;
    std::unique_ptr<cuda::primary_context> primary_; ///< null if the context is the user's
    CUexternalMemory memory_ = nullptr;
    CUdeviceptr address_ = 0;
    unsigned long long id_ = 0; ///< of the allocation at address_; 0 if CUDA does not report it
};

} // namespace barmap::backend::vulkan
