// SPDX-License-Identifier: MIT
#pragma once

#include "base/region.hpp"
#include "driver/cuda/device_block.hpp"
#include "driver/cuda/gpu.hpp"
#include "driver/cuda/host_registration.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace barmap::engine {

/// GPU memory and pinned host memory, for tests and measurements at a start. Kept for as long as
/// an engine may be started again: to free memory, CUDA waits for running kernels.
class batch_test_memory {
public:
    static constexpr std::size_t size = 262144; ///< of each
    /// @throws error
    explicit batch_test_memory(cuda::gpu const& which)
        : pages_(os::region::shared_memory(size)),
          registration_(which.handle, std::span(pages_.data(), size)), block_(which.handle, size) {}
    [[nodiscard]] std::uint64_t gpu() const noexcept { return block_.address(); }
    [[nodiscard]] std::uint64_t host() const noexcept {
        return reinterpret_cast<std::uintptr_t>(pages_.data());
    }
    [[nodiscard]] std::byte* data() const noexcept { return pages_.data(); }

private:
    os::region pages_;
    cuda::host_registration registration_; // goes before them
    cuda::device_block block_;
};

} // namespace barmap::engine
