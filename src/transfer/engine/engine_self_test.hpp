// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/nonce.hpp"
#include "transfer/engine/transfer.hpp"

#include <memory>

namespace barmap::engine {

/// Memory to test an engine in, and another way than the engine to see what is there: CUDA's
/// copies, or a mapping in a process without CUDA. Kept for as long as the engine may be started
/// again: to free memory, CUDA waits for running kernels, and one of them may be waiting for the
/// copy that starts an engine.
class test_memory {
public:
    static constexpr std::size_t size = 262144;
    /// @throws error
    [[nodiscard]] static std::shared_ptr<test_memory const> make(gpu const& which);
    virtual ~test_memory() = default;
    [[nodiscard]] virtual bool is_still_there() const noexcept = 0;
    [[nodiscard]] virtual std::unique_ptr<reachable> reached_by(copy_engine& engine) const = 0;
    virtual void put(std::size_t at, cuda::nonce const& value) const = 0;
    [[nodiscard]] virtual cuda::nonce get(std::size_t at) const = 0;
};

/// Lets the engine take the fastest of its ways to copy, moves random values both ways, and looks
/// whether they are where they should be. Waits for no kernel. The worker keeps the memory, into
/// which a copy may come late.
/// @throws error errc::backend_broken, or what failed
void self_test(worker& at_work, std::shared_ptr<test_memory const> const& memory);

} // namespace barmap::engine
