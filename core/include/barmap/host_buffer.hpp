// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/handle.hpp>
#include <barmap/host_buffer.h>
#include <barmap/report.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

class device;

/// Host memory that the GPU reaches: pinned, registered with CUDA, and known to the device. So
/// mapping::copy_to_gpu() and copy_to_cpu() copy to and from it directly, and need not ask CUDA
/// what it is; this is fastest, above all when CUDA's code is in no CPU cache.
///
///     barmap::host_buffer const results = gpu.allocate_host(1 << 20);
///     map.copy_to_cpu(results.bytes(), 0);
///
/// Move-only; keeps its device alive. A forked child may only destroy the object.
/// Thread rule: the bytes are like any memory; destroying the buffer is exclusive, and no copy from
/// or to it may be in flight.
class host_buffer {
public:
    host_buffer() noexcept = default; ///< empty

    /// CPU address of the first byte, which begins a page; null if the buffer is empty.
    /// Contract and errors: barmap_host_buffer_data().
    [[nodiscard]] std::byte* data() const noexcept {
        return handle_ ? static_cast<std::byte*>(barmap_host_buffer_data(handle_.get())) : nullptr;
    }
    /// Bytes, as requested. Contract and errors: barmap_host_buffer_size().
    [[nodiscard]] std::size_t size() const noexcept {
        return handle_ ? barmap_host_buffer_size(handle_.get()) : 0;
    }
    /// The address for kernels; 0 if the buffer is empty.
    /// Contract and errors: barmap_host_buffer_gpu_address().
    [[nodiscard]] std::uintptr_t gpu_address() const noexcept {
        return handle_ ? barmap_host_buffer_gpu_address(handle_.get()) : 0;
    }
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data(), size()}; }
    /// Takes over a handle of the C interface. @pre it is not NULL
    explicit host_buffer(barmap_host_buffer* of) noexcept : handle_(of) {}
    /// For calls of the C interface; null if it is empty.
    [[nodiscard]] barmap_host_buffer* c_handle() const noexcept { return handle_.get(); }

private:
    detail::owned<barmap_host_buffer, barmap_host_buffer_destroy> handle_;
};

/// Whether CUDA has pinned all of this host memory; true for an empty span.
/// Contract and errors: barmap_is_pinned().
[[nodiscard]] inline bool is_pinned(std::span<std::byte const> memory) noexcept {
    return barmap_is_pinned(memory.data(), memory.size()) != 0;
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
