// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/nonce.hpp"
#include "transfer/engine/transfer.hpp"

#include <memory>

namespace barmap::engine {

/// GPU memory for self-tests, with access that does not use the tested engine: CUDA's copies, or a
/// mapping in a process without CUDA. Keep it while the engine may start again: to free memory,
/// CUDA waits for running kernels, and a kernel may wait for the copy that starts an engine.
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

/// Lets the engine select its fastest method, copies random values in both directions and verifies
/// them. Waits for no kernel. The worker keeps the memory, since a late copy may still write to it.
/// @throws error errc::backend_broken, or the failed call's error
void self_test(worker& at_work, std::shared_ptr<test_memory const> const& memory);

} // namespace barmap::engine
