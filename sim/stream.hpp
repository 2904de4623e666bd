// SPDX-License-Identifier: MIT
#pragma once

#include "entry.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

namespace barmap::sim {

struct context;

struct stream : work_queue {
    CUcontext owner = nullptr;
    int priority = 0;
    unsigned flags = 0;
    std::shared_ptr<std::atomic<bool> const> given_up; ///< its context's
};

/// Runs streams on separate threads, of which at most two stay when there is nothing to do. Every
/// stream with work has a thread, so work that waits for other work never starves it.
class scheduler {
public:
    /// Adds an operation to the end of a stream; what `extra` names must be done before it too.
    std::shared_ptr<completion> submit(std::shared_ptr<stream> const& to, std::function<void()> run,
                                       std::shared_ptr<completion> extra = nullptr);

private:
    static constexpr std::size_t idle_limit = 2;

    void serve();

    std::deque<std::shared_ptr<stream>> waiting_;
    std::size_t idle_ = 0;
    std::condition_variable for_idle_; ///< notified when a stream waits for a thread
};

/// The stream that a handle means in the current context: 0, 1 (legacy) and 2 (per thread) are its
/// null stream. The per-thread default stream is not told apart from the legacy one: that orders
/// more than it must.
[[nodiscard]] std::shared_ptr<stream> get_stream(CUstream handle);

/// The completions that work which is submitted to the stream now must wait for, its own
/// predecessors included.
[[nodiscard]] completions predecessors(stream const& of);

void wait_for(completions const& what, world_lock& lock);

/// Runs `body` without the lock in the calling thread, when everything before it in the context's
/// null stream is done: a synchronous call.
void run_now(context& in, world_lock& lock, std::function<void()> const& body);

} // namespace barmap::sim
