// SPDX-License-Identifier: MIT
#pragma once

#include "batch_call.hpp"
#include "reasons.hpp"

#include "base/process.hpp"
#include "driver/cuda/context_scope.hpp"

#include <barmap/batch_queue.hpp>

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>

namespace barmap::memcpy_dropin {

/// Takes the batches of one GPU; never destroyed. A separate thread starts it, since the start may
/// wait for running kernels, and these may wait for what the program does next.
/// Thread rule: threads may call any members at once.
class gpu_batches {
public:
    enum class state { idle, starting, ready, off };

    /// Null if there is no memory for it, or no such GPU.
    [[nodiscard]] static gpu_batches* of(int ordinal) noexcept;

    /// Begins the start, unless it has begun.
    [[nodiscard]] state now() noexcept;

    /// @pre it is ready
    [[nodiscard]] CUcontext context() const noexcept { return context_.get(); }

    /// Copies in the order of the stream. A reason: nothing is in flight, and none will be.
    /// @param result what the caller of CUDA's function gets, where nothing is passed on
    /// @pre it is ready
    [[nodiscard]] std::optional<reason> submit(std::span<copy_piece const> pieces, CUstream stream,
                                               CUresult& result) noexcept;

    /// Waits until no thread starts one, but no longer than a second: before CUDA ends.
    static void wait_for_starts() noexcept;

    /// Waits for the batches and destroys all, for a test. Not while calls run.
    static void destroy_all() noexcept;

private:
    struct end_watch;
    explicit gpu_batches(int ordinal) noexcept : ordinal_(ordinal) {}
    void start() noexcept;
    void give_up(std::string const& why) noexcept;
    [[nodiscard]] bool has_a_batch_failed();
    void watch(batch_ticket ticket) noexcept;
    void look_at_the_end() noexcept;

    int ordinal_;
    os::process_id owner_ = os::this_process();
    std::atomic<state> state_{state::idle};
    cuda::primary_context context_; ///< set before it is ready, as is the next
    std::optional<batch_queue> queue_;
    std::mutex lock_; ///< of the next one
    std::deque<batch_ticket> in_flight_;
};

} // namespace barmap::memcpy_dropin
