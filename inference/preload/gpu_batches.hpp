// SPDX-License-Identifier: MIT
#pragma once

#include "batch_call.hpp"
#include "judgement.hpp"
#include "reasons.hpp"

#include "cuda/context_scope.hpp"
#include "system/process.hpp"
#include "system/seldom.hpp"

#include <barmap/batch_queue.hpp>
#include <barmap/unheld_batches.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace barmap::memcpy_dropin {

/// Takes the batches of one GPU; never destroyed. A separate thread starts it, since the start may
/// wait for running kernels, and these may wait for what the program does next.
/// Thread rule: threads may call any members at once.
class gpu_batches {
public:
    enum class state { idle, starting, ready, off };

    /// The result of a call that reports a failed batch, as CUDA's next call does.
    static constexpr CUresult illegal_address = 700;

    /// Null if there is no memory for it, or no such GPU.
    [[nodiscard]] static gpu_batches* of(int ordinal) noexcept;

    /// Begins the start, unless it has begun.
    [[nodiscard]] state now() noexcept;

    [[nodiscard]] bool is_ready() const noexcept {
        return state_.load(std::memory_order_acquire) == state::ready;
    }

    /// Whether a batch has failed since the last call: once, and from then on this is off.
    /// @param looks_at_graphs at once; else every 10 ms, since that reads memory of the GPU
    /// @pre it is ready
    [[nodiscard]] bool has_a_batch_failed(bool looks_at_graphs = false) noexcept;

    /// Whether a batch to the CPU was in flight when has_a_batch_failed() was last asked, or has
    /// been submitted since.
    [[nodiscard]] bool stores() const noexcept { return stores_.load() > 0; }

    /// @pre it is ready
    [[nodiscard]] CUcontext context() const noexcept { return context_.get(); }

    /// Copies in the order of the stream. A reason: nothing is in flight, and none will be.
    /// Starts no engine: one that has failed has no successor, and one that a checkpoint has
    /// released is started again by a thread.
    /// @param way of all pieces
    /// @param result what the caller of CUDA's function gets, where nothing is passed on
    /// @pre it is ready
    [[nodiscard]] std::optional<reason> submit(std::span<copy_piece const> pieces, memory_pair way,
                                               CUstream stream, CUresult& result) noexcept;

    /// Makes the batch a node of the graph that the stream is being captured into.
    /// @return whether it is one
    /// @pre it is ready
    [[nodiscard]] bool capture(std::span<copy_piece const> pieces, CUstream stream) noexcept;

    /// Waits until no thread starts one, but no longer than a second: before CUDA ends.
    static void wait_for_starts() noexcept;

    /// Waits for the batches and destroys all, for a test. Not while calls run.
    static void destroy_all() noexcept;

private:
    struct end_watch;
    explicit gpu_batches(int ordinal) noexcept : ordinal_(ordinal) {}
    void begin() noexcept;
    void start() noexcept;
    /// @return whether this is the first time
    bool give_up(std::string const& why) noexcept;
    void watch(batch_ticket ticket, bool is_store) noexcept;
    /// Whether the batch of a graph is over. Keeps in mind that a replay has failed, which a queue
    /// tells once. Under graphs_lock_.
    [[nodiscard]] bool is_over(batch_ticket ticket) noexcept;
    [[nodiscard]] bool has_a_replay_failed() noexcept;
    void look_at_the_end() noexcept;

    int ordinal_;
    os::process_id owner_ = os::this_process();
    std::atomic<state> state_{state::idle};
    cuda::primary_context context_; ///< set before it is ready, as is the next
    std::optional<batch_queue> queue_;
    unheld_batches<int> unheld_; ///< each with what it counts for in stores_
    std::atomic<int> stores_{0};

    std::atomic<bool> has_graphs_{false}; ///< or has had some
    std::atomic<bool> can_have_graphs_{true};
    std::mutex graphs_lock_;
    // Under graphs_lock_.
    std::vector<batch_ticket> graphs_; ///< batches of graphs that are still there, and some others
    std::size_t most_graphs_ = 64;     ///< with more, those that are over are forgotten
    bool has_a_failed_replay_ = false;
    os::seldom looks_at_graphs_{std::chrono::milliseconds(10)};
};

} // namespace barmap::memcpy_dropin
