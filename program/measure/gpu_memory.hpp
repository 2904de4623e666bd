// SPDX-License-Identifier: MIT
#pragma once

#include "measure/opened_gpu.hpp"

#include <barmap/pin.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace barmap::tool {

/// GPU memory of one kind, made by the driver (or by barmap) and freed by the destructor.
/// Every maker needs the GPU's context to be current, and throws error. Move-only.
class gpu_memory {
public:
    static gpu_memory device(std::size_t bytes); ///< cuMemAlloc
    /// cuMemCreate and cuMemMap: chunks of at least bytes / chunks each, one after the other.
    /// @param exportable as POSIX fd
    /// @param rdma       ready for GPUDirect RDMA, which gdrdrv needs; the GPU must support that
    static gpu_memory chunks(CUdevice gpu, std::size_t bytes, unsigned chunks, bool exportable,
                             bool rdma = false);
    /// device::allocate
    static gpu_memory barmap(opened_gpu const& gpu, std::size_t bytes,
                             std::string_view backend = {});
    static gpu_memory managed(std::size_t bytes);
    static gpu_memory host(std::size_t bytes); ///< pinned host memory, at its GPU address
    static gpu_memory pool(opened_gpu const& gpu, std::size_t bytes, bool exportable);

    /// By its name on the command line: device, vmm, vmm5, barmap.
    static gpu_memory named(std::string_view name, opened_gpu const& gpu, std::size_t bytes);

    gpu_memory() = default;
    gpu_memory(gpu_memory&& other) noexcept { swap(other); }
    gpu_memory& operator=(gpu_memory&& other) noexcept;
    ~gpu_memory();

    [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; } ///< bytes, as asked for

private:
    void swap(gpu_memory& other) noexcept;
    void undo(std::function<void()> step) { undo_.push_back(std::move(step)); }

    CUdeviceptr address_ = 0;
    std::size_t size_ = 0;
    std::vector<std::function<void()>> undo_; ///< run from the last to the first
};

// GPU memory by the driver, which all else is compared with. Each waits until it is done, needs the
// GPU's context, and throws error.

void fill_gpu(CUdeviceptr address, unsigned char value, std::size_t bytes);
void write_gpu(CUdeviceptr address, std::span<std::byte const> from);
void read_gpu(std::span<std::byte> to, CUdeviceptr address);

} // namespace barmap::tool
