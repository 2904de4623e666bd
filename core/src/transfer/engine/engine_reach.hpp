// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/memory.hpp"
#include "transfer/engine/engine_slot.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace barmap {

/// Makes pinned memory reachable for each copy engine at its first copy there.
/// Thread rule: threads may call every member but describe() concurrently.
class engine_reach {
public:
    /// The party that frees the memory.
    enum class owner {
        program, ///< any thread, at any time: only engines that hold it reach it
        barmap   ///< nobody else, and not before the last copy
    };

    /// Records what the memory is, or has become, for engines that support no RM objects and for
    /// memory without them. Engines then do not reach other memory that takes its place after it is
    /// freed. Call it before the first find(), or the first after release().
    void describe(cuda::memory const& memory, std::vector<rm::held_object> held, owner whose);

    /// Ends the access of all engines.
    void release() {
        std::lock_guard const hold(lock_);
        reached_.clear();
    }

    /// An engine at work, and the memory as it reaches it.
    struct reached {
        engine_slot* slot;
        std::shared_ptr<engine::worker> worker;
        std::shared_ptr<engine::reachable const> memory; ///< destroyed first; null: out of reach
    };

    /// @return null if the engine is not usable
    [[nodiscard]] std::shared_ptr<reached const> find(engine_slot& slot) const;

    /// Retires an engine whose copy of this memory did not end in time. If the engine does not
    /// stop, it reaches the memory for the life of the process, since the copy may still be in
    /// flight.
    /// @return as engine_slot::retire()
    static bool retire(std::shared_ptr<reached const> const& by);

    /// Whether CUDA is known to have other memory at the addresses now.
    [[nodiscard]] bool has_changed() const noexcept;

private:
    [[nodiscard]] bool is_unchanged() const noexcept;

    [[nodiscard]] std::unique_ptr<engine::reachable const> reach(engine::copy_engine& by) const;

    cuda::memory memory_;
    std::vector<rm::held_object> held_;
    owner owner_ = owner::program;
    std::vector<unsigned long long> ids_; ///< CUDA's identifier of each chunk
    mutable std::mutex lock_;
    mutable std::vector<std::shared_ptr<reached const>> reached_; ///< under the lock
};

} // namespace barmap
