// SPDX-License-Identifier: MIT
#pragma once

#include "measure/gpu_memory.hpp"
#include "output/units.hpp"

#include "cuda/context_scope.hpp"

#include <cstddef>
#include <string>

namespace barmap::tool::gdrcopy {

/// Numbers of the CUDA driver that only these programs ask for.
inline constexpr int attribute_threads_per_block = 1;
inline constexpr int attribute_compute_mode = 20;
inline constexpr int attribute_host_page_tables = 100; ///< the CPU and the GPU are coherent
inline constexpr int attribute_vmm_rdma = 110;
inline constexpr int pointer_p2p_tokens = 5;

/// The GPU that a program of gdrcopy works on: CUDA's part of it only. Nothing of barmap's own is
/// opened, so that what is measured is libgdrapi alone.
class selected_gpu {
public:
    /// Starts CUDA and makes the GPU's primary context current on this thread, for as long as this
    /// lives. @throws error
    explicit selected_gpu(int ordinal);
    [[nodiscard]] CUdevice handle() const noexcept { return handle_; }
    [[nodiscard]] int attribute(int which) const; ///< 0 where the driver does not know it

private:
    CUdevice handle_;
    cuda::primary_context context_;
    cuda::context_scope scope_;
};

/// As each of the programs begins: loads libgdrapi, prints every GPU, and selects one. @throws
/// error
[[nodiscard]] selected_gpu say_and_select_gpu(int ordinal);

/// GPU memory that starts at a GPU page.
class gpu_buffer {
public:
    /// @param function cuMemAlloc or cuMemCreate, by its name on the command line. @throws error
    gpu_buffer(selected_gpu const& gpu, std::string const& function, std::size_t bytes);
    [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    void fill(unsigned char value) const { fill_gpu(address_, value, size_); } ///< @throws error
    /// Frees the memory. Pinned memory stays as long as libgdrapi's mappings persist.
    void free() { memory_ = gpu_memory(); }

private:
    gpu_memory memory_;
    CUdeviceptr address_;
    std::size_t size_;
};

} // namespace barmap::tool::gdrcopy
