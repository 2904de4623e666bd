// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/context_scope.hpp"
#include "system/process.hpp"

#include <cstddef>
#include <span>

namespace barmap::cuda {

/// Host memory that CUDA has pinned for us, for all contexts on the GPU.
class host_registration {
public:
    /// @param memory must outlive the registration
    /// @param if_unsupported what to do where CUDA pins only what it has allocated
    /// @throws error
    host_registration(CUdevice device, std::span<std::byte> memory,
                      char const* if_unsupported = "allocate it with cuMemHostAlloc");
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

/// Zeroed host memory that CUDA has allocated and pinned, for all contexts on the GPU: for systems
/// where it pins none of the program's own.
class host_allocation {
public:
    /// @throws error
    host_allocation(CUdevice device, std::size_t bytes);
    host_allocation(host_allocation const&) = delete;
    host_allocation& operator=(host_allocation const&) = delete;
    ~host_allocation();

    [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
    /// As that of host_registration.
    [[nodiscard]] CUdeviceptr gpu_address() const;

private:
    os::process_id owner_ = os::this_process();
    primary_context context_;
    void* data_ = nullptr;
};

} // namespace barmap::cuda
