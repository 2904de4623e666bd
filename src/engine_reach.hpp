// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/memory.hpp"
#include "engine/transfer.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace barmap {

/// Pinned memory as copy engines reach it: each when it first copies there.
/// Thread rule: every member may be called at once, but describe().
class engine_reach {
public:
    /// Takes down what the memory is. Memory that is later found to be other memory, because it was
    /// freed in between, is not reached. Before the first find().
    void describe(cuda::memory const& memory);

    /// The memory as this engine reaches it, or null where it cannot.
    [[nodiscard]] std::shared_ptr<engine::reachable const>
    find(std::shared_ptr<engine::worker> const& worker) const;

private:
    [[nodiscard]] bool is_unchanged() const noexcept;

    struct reached {
        std::shared_ptr<engine::worker> worker;
        std::shared_ptr<engine::reachable const> memory; // goes before it
    };
    cuda::memory memory_;
    std::vector<unsigned long long> ids_; ///< CUDA's, of each chunk
    mutable std::mutex lock_;
    mutable std::vector<reached> reached_; ///< under the lock
};

} // namespace barmap
