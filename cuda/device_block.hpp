// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"
#include "system/process.hpp"

#include <cstddef>
#include <span>

namespace barmap::cuda {

/// Which addresses a block may have.
enum class block_addresses {
    any,        ///< cudaMalloc memory
    below_2_40, ///< memory of the default pool, which CUDA puts there (580.159.04)
};

/// GPU memory of our own, in whatever context there is on the GPU. Freed only if it is still
/// there: the context may have been destroyed before.
class device_block {
public:
    /// @throws error; errc::backend_absent if CUDA puts it elsewhere
    device_block(CUdevice device, std::size_t bytes, block_addresses wanted = block_addresses::any);
    device_block(device_block const&) = delete;
    device_block& operator=(device_block const&) = delete;
    ~device_block();
    [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }
    /// Writes its first bytes, in no order with the program's streams. @throws error
    void write(std::span<std::byte const> bytes) const;
    /// Whether it is still this memory, and not other memory, or none, at its address.
    [[nodiscard]] bool is_still_there() const noexcept;

private:
    void allocate_low(CUdevice device, std::size_t bytes);

    os::process_id process_ = os::this_process();
    CUcontext owner_ = nullptr;
    CUdeviceptr allocated_ = 0, address_ = 0;
    unsigned long long id_ = 0;
};

} // namespace barmap::cuda
