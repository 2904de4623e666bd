// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"
#include "system/process.hpp"

#include <cstddef>

namespace barmap::cuda {

/// GPU memory for barmap itself, which every backend for VMM memory can register: one chunk with a
/// POSIX-fd handle type, or without one, capable of GPUDirect RDMA if the GPU is. Its address is
/// valid in every context on the GPU, for that GPU. Memory that a backend exported from it stays
/// alive without it. Abandoned in a forked child and at process exit.
class virtual_block {
public:
    /// Allocates at least that many bytes. The calling thread needs no context.
    /// @throws error with the driver's CUresult: CUDA_ERROR_OUT_OF_MEMORY where there is too little
    virtual_block(CUdevice device, std::size_t bytes, bool exportable = true);
    virtual_block(virtual_block const&) = delete;
    virtual_block& operator=(virtual_block const&) = delete;
    ~virtual_block();

    [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; } ///< whole granules

private:
    explicit virtual_block(CUdevice device) noexcept;

    os::process_id owner_;
    CUdevice device_;
    CUdeviceptr address_ = 0;
    std::size_t size_ = 0;
    bool mapped_ = false;
};

} // namespace barmap::cuda
