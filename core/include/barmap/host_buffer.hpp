// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/export.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace barmap {
struct host_buffer_state; ///< inside the library
}

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
/// Move-only; keeps its device alive. A forked child shares the bytes, and may only destroy the
/// object. (Where CUDA cannot register memory, CUDA allocates it, and a child has none.)
/// Thread rule: the bytes are like any memory; destroying the buffer is exclusive, and no copy from
/// or to it may be in flight.
class BARMAP_API host_buffer {
public:
    host_buffer() noexcept; ///< empty
    host_buffer(host_buffer&&) noexcept;
    host_buffer& operator=(host_buffer&&) noexcept;
    ~host_buffer();

    /// CPU address of the first byte; begins a page, and is zeroed when it is allocated.
    [[nodiscard]] std::byte* data() const noexcept;
    [[nodiscard]] std::size_t size() const noexcept; ///< bytes, as requested
    /// The address for kernels.
    [[nodiscard]] std::uintptr_t gpu_address() const noexcept;
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data(), size()}; }

private:
    friend class device;
    explicit host_buffer(std::unique_ptr<host_buffer_state> state) noexcept;
    std::unique_ptr<host_buffer_state> state_;
};

/// Whether CUDA has pinned all of this host memory, as one allocation or several: pinned by
/// cudaHostAlloc, cudaHostRegister or as a host_buffer. Asks CUDA, which takes 0.1 us for each
/// allocation and up to 9 us after a pause of the program (H200). Not for a forked child of a process
/// that uses CUDA. Thread rule: free.
/// @return false too for GPU memory, without CUDA, while the process is prepared for a checkpoint,
///         and for memory that was not pinned when this thread asked less than 10 ms ago; true for
///         an empty span
[[nodiscard]] BARMAP_API bool is_pinned(std::span<std::byte const> memory) noexcept;

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
