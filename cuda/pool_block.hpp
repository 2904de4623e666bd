// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"
#include "system/process.hpp"

#include <cstddef>

namespace barmap::cuda {

/// GPU memory for barmap itself from a separate pool (cuMemAllocFromPoolAsync): a first piece and
/// one that follows it in the same object. Abandoned in a forked child and at process exit.
class pool_block {
public:
    /// @param bytes of each piece. Needs a current context on the device. @throws error
    pool_block(CUdevice device, std::size_t bytes, bool exportable);
    pool_block(pool_block const&) = delete;
    pool_block& operator=(pool_block const&) = delete;
    ~pool_block();

    [[nodiscard]] CUdeviceptr first() const noexcept { return pieces_[0]; }
    [[nodiscard]] CUdeviceptr second() const noexcept { return pieces_[1]; }

private:
    pool_block() noexcept = default;

    os::process_id owner_ = os::this_process();
    CUstream stream_ = nullptr;
    CUmemoryPool pool_ = nullptr;
    CUdeviceptr pieces_[2] = {};
};

} // namespace barmap::cuda
