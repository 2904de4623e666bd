// SPDX-License-Identifier: MIT
#pragma once

#include "base/policy.hpp"
#include "transfer/engine/transfer.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace barmap {

/// Host memory that CUDA has pinned, as engines reach it. Memory that CUDA has freed since is
/// released.
/// Thread rule: every member may be called at once; none waits while an engine reaches memory.
class host_reach {
public:
    /// One allocation by CUDA, or a range registered with it.
    struct allocation {
        std::uintptr_t start = 0;
        std::size_t size = 0;
        unsigned long long id = 0; ///< CUDA's, which no later allocation has

        [[nodiscard]] bool contains(std::uintptr_t at, std::size_t bytes) const noexcept {
            return at >= start && at - start < size && bytes <= size - (at - start);
        }
    };

    /// The memory at this address: barmap's own, or else as CUDA reports it, which takes 0.1 us
    /// and up to 9 us after a pause of the program (H200).
    /// @return of size 0 if it is no pinned host memory, or was none 10 ms ago
    [[nodiscard]] allocation describe(std::byte const* host) noexcept;

    /// Memory of our own, registered with CUDA, until it is taken out again.
    void add(std::span<std::byte> own);
    void remove(std::byte const* own) noexcept;

    /// Releases what engines reach.
    void release() {
        std::lock_guard const hold(lock_);
        ranges_.clear();
    }

    /// Where memory lies for an engine, for as long as this lives. The engine's reference keeps the
    /// pages themselves, whatever CUDA or the program frees.
    class place {
    public:
        [[nodiscard]] bool is_in(allocation const& what) const noexcept {
            return what.size > 0 && what.id == id_;
        }
        [[nodiscard]] std::span<engine::reachable::run const> runs() const noexcept {
            return more_runs_.empty() ? std::span(&first_, count_) : std::span(more_runs_);
        }
        void add(std::shared_ptr<engine::reachable const> held, engine::reachable::run const& run);

    private:
        friend class host_reach;
        unsigned long long id_ = 0; ///< of the allocation
        std::size_t count_ = 0;     ///< of the first, which is mostly the only one: no allocation
        engine::reachable::run first_;
        std::shared_ptr<engine::reachable const> held_;
        std::vector<engine::reachable::run> more_runs_;
        std::vector<std::shared_ptr<engine::reachable const>> more_held_;
    };

    /// @pre what.contains the range
    /// @return no runs: it is out of the engine's reach
    [[nodiscard]] place find(std::shared_ptr<engine::worker> const& worker, allocation const& what,
                             std::byte const* host, std::size_t bytes);

    /// The same, from what find() has found before, without a look at what CUDA has there now:
    /// check with place::is_in(describe(host)) afterwards whether the memory is still that.
    /// @return no runs: none of it, or not all, was found before
    [[nodiscard]] place recall(engine::worker const& worker, std::byte const* host,
                               std::size_t bytes);

private:
    /// Part of an allocation, reached at its first use: to reach takes as long as to copy.
    static constexpr std::size_t block_bytes = std::size_t{4} << 20;
    static constexpr std::size_t most_ranges = policy::known_ranges;
    struct range {
        std::shared_ptr<engine::worker> worker;
        allocation what;
        std::vector<std::shared_ptr<engine::reachable const>> blocks; // go before the worker
        bool unreachable = false;
    };
    range& find_range(std::shared_ptr<engine::worker> const& worker, allocation const& what);

    /// The part of an allocation that has this number; null if it is out of the engine's reach.
    [[nodiscard]] std::shared_ptr<engine::reachable const>
    reach_block(std::shared_ptr<engine::worker> const& worker, allocation const& what,
                std::size_t number);

    template <class BlockOf>
    static place gather(allocation const& what, std::byte const* host, std::size_t bytes,
                        BlockOf&& block_of);

    [[nodiscard]] allocation find_own(std::uintptr_t at) const noexcept;

    std::atomic<std::size_t> own_count_{0};
    std::mutex lock_;           // for what follows
    std::vector<range> ranges_; ///< the latest last
    std::vector<allocation> own_;
    unsigned long long next_own_ = ~0ull; ///< numbers that CUDA does not come to
};

} // namespace barmap
