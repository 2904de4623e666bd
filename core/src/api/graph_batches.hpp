// SPDX-License-Identifier: MIT
#pragma once

#include "api/kernel_queue_state.hpp"
#include "transfer/engine/engine.hpp"

#include <barmap/types.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace barmap {

/// The batches of a batch queue that are nodes of CUDA graphs: kernels of one warp, which submit
/// their pieces to one kernel queue. Graphs keep what their nodes use.
/// Thread rule: threads may call every member concurrently.
class graph_batches {
public:
    explicit graph_batches(std::shared_ptr<device_state> of) noexcept : device_(std::move(of)) {}

    /// Makes a batch a node of the graph into which its stream is being captured.
    /// @param pieces each of up to most_piece_bytes; without any, there is no node
    /// @param order its `at_most` is the time of the node's kernel
    /// @return its number, from 1 on; 0 without a node
    /// @throws error errc::unsupported_operation where there is no kernel queue; CUDA's
    /// @pre the GPU's primary context is current
    std::uint64_t capture(std::vector<copy_piece> pieces, engine::stream_order const& order);

    /// in_flight while CUDA has the graph, or what was made of it; then done.
    /// @throws error errc::copy_unfinished if a replay of a graph with the same kernel queue has
    ///         failed since the last call, and always once that queue has stopped
    [[nodiscard]] engine::state poll(std::uint64_t number);

private:
    [[nodiscard]] std::shared_ptr<kernel_queue_state> make_queue() const;

    std::shared_ptr<device_state> const device_;
    std::mutex lock_;                           // guards the members below
    std::shared_ptr<kernel_queue_state> queue_; ///< of the next batch
    struct batch {
        std::weak_ptr<void const> kept; ///< by graphs
        std::shared_ptr<kernel_queue_state> queue;
    };
    std::map<std::uint64_t, batch>
        known_; ///< by number, except for old ones whose graphs have gone
    std::uint64_t first_ = 0, latest_ = 0;
};

} // namespace barmap
