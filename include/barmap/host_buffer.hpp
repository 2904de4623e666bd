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

namespace barmap::inline BARMAP_INLINE_NAMESPACE {

class device;

/// Host memory that the GPU reaches: pinned, registered with CUDA, and known to the device, so that
/// mapping::copy_to_gpu() and copy_to_cpu() copy directly to and from it and need not ask CUDA what
/// it is. Also the fastest after a pause of the program, when CUDA's code is in no cache any more.
///
///     barmap::host_buffer const results = gpu.allocate_host(1 << 20);
///     map.copy_to_cpu(results.bytes(), 0);
///
/// Move-only; keeps its device. A forked child shares the bytes, and may only destroy the object.
/// Thread rule: the bytes are as any memory; destroying it is exclusive, and no copy of it may be
/// under way.
class BARMAP_API host_buffer {
public:
    host_buffer() noexcept; ///< empty
    host_buffer(host_buffer&&) noexcept;
    host_buffer& operator=(host_buffer&&) noexcept;
    ~host_buffer();

    /// Whole pages, zeroed at first.
    [[nodiscard]] std::byte* data() const noexcept;
    [[nodiscard]] std::size_t size() const noexcept; ///< bytes, as asked for
    /// The address by which kernels reach it.
    [[nodiscard]] std::uintptr_t gpu_address() const noexcept;
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data(), size()}; }

private:
    friend class device;
    explicit host_buffer(std::unique_ptr<host_buffer_state> state) noexcept;
    std::unique_ptr<host_buffer_state> state_;
};

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
