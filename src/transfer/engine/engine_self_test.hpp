// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/device_block.hpp"
#include "transfer/engine/transfer.hpp"

#include <memory>

namespace barmap::engine {

/// Memory to test an engine in. Kept for as long as the engine may be started again: to free
/// memory, CUDA waits for running kernels, and one of them may be waiting for the copy that starts
/// an engine.
class test_memory {
public:
    static constexpr std::size_t size = 262144;
    /// @throws error
    explicit test_memory(gpu const& which) : block_(which.handle, size) {}
    [[nodiscard]] CUdeviceptr address() const noexcept { return block_.address(); }
    [[nodiscard]] bool is_still_there() const noexcept { return block_.is_still_there(); }

private:
    cuda::device_block block_;
};

/// Lets the engine take the fastest of its ways to copy, moves random values both ways, and looks
/// with the driver whether they are where they should be. Waits for no kernel. The worker keeps the
/// memory, into which a copy may come late.
/// @throws error errc::backend_broken, or what failed
void self_test(worker& at_work, gpu const& which, std::shared_ptr<test_memory const> const& memory);

} // namespace barmap::engine
