// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/memory.hpp"
#include "transfer/engine/engine_slot.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace barmap {

/// Pinned memory as copy engines reach it: each when it first copies there.
/// Thread rule: every member may be called at once, but describe().
class engine_reach {
public:
    /// Takes down what the memory is, or has become, for engines that know no RM objects or where
    /// it holds none. Memory that is later found to be other memory, because it was freed in
    /// between, is then not reached. Before the first find().
    void describe(cuda::memory const& memory, std::vector<rm::held_object> held);

    /// Releases what engines reach.
    void let_go() {
        std::lock_guard const hold(lock_);
        reached_.clear();
    }

    /// An engine at work, and the memory as it reaches it.
    struct reached {
        engine_slot const* slot;
        std::shared_ptr<engine::worker> worker;
        std::shared_ptr<engine::reachable const> memory; ///< goes before it; null if out of reach
    };

    /// @return null where the engine is not usable
    [[nodiscard]] std::shared_ptr<reached const> find(engine_slot& slot) const;

    /// Whether it is known that CUDA has other memory at the addresses by now.
    [[nodiscard]] bool has_changed() const noexcept;

private:
    [[nodiscard]] bool is_unchanged() const noexcept;

    [[nodiscard]] std::unique_ptr<engine::reachable const> reach(engine::copy_engine& by) const;

    cuda::memory memory_;
    std::vector<rm::held_object> held_;
    std::vector<unsigned long long> ids_; ///< CUDA's, of each chunk
    mutable std::mutex lock_;
    mutable std::vector<std::shared_ptr<reached const>> reached_; ///< under the lock
};

} // namespace barmap
