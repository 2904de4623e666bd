// SPDX-License-Identifier: MIT
#pragma once

#include "engine/transfer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace barmap {

/// Host memory that CUDA has pinned, as engines reach it. What CUDA has freed since is let go of.
/// Thread rule: every member may be called at once.
class pinned_host {
public:
    /// One allocation of CUDA's, or a range registered with it.
    struct allocation {
        std::uintptr_t start = 0;
        std::size_t size = 0;
        unsigned long long id = 0; ///< CUDA's, which no later allocation has

        [[nodiscard]] bool contains(std::uintptr_t at, std::size_t bytes) const noexcept {
            return at >= start && at - start < size && bytes <= size - (at - start);
        }
    };

    /// Asks CUDA what is at this address, which takes 0.1 us (H200).
    /// @return of size 0 if it is no pinned host memory
    [[nodiscard]] static allocation describe(std::byte const* host) noexcept;

    /// Where memory lies for an engine, for as long as this lives.
    class place {
    public:
        [[nodiscard]] std::span<engine::reachable::run const> runs() const noexcept {
            return more_runs_.empty() ? std::span(&first_, count_) : std::span(more_runs_);
        }
        void add(std::shared_ptr<engine::reachable const> const& held,
                 engine::reachable::run const& run);

    private:
        std::size_t count_ = 0; ///< of the first, which is mostly the only one: no allocation
        engine::reachable::run first_;
        std::shared_ptr<engine::reachable const> held_;
        std::vector<engine::reachable::run> more_runs_;
        std::vector<std::shared_ptr<engine::reachable const>> more_held_;
    };

    /// @pre what.contains the range
    /// @return no runs: it is out of the engine's reach
    [[nodiscard]] place find(std::shared_ptr<engine::worker> const& worker, allocation const& what,
                             std::byte const* host, std::size_t bytes);

private:
    /// Part of an allocation, reached at its first use: to reach takes as long as to copy.
    static constexpr std::size_t block_bytes = std::size_t{4} << 20;
    static constexpr std::size_t most_ranges = 64;
    struct range {
        std::shared_ptr<engine::worker> worker;
        allocation what;
        std::vector<std::shared_ptr<engine::reachable const>> blocks; // go before the worker
        bool unreachable = false;
    };
    range& find_range(std::shared_ptr<engine::worker> const& worker, allocation const& what);

    std::mutex lock_;
    std::vector<range> ranges_; ///< under the lock; the latest last
};

} // namespace barmap
