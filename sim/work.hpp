// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

/// Work in order, as the streams of both simulated runtimes have it. The mutex of a world guards all
/// of its work, and each completion notifies the world's `changed`.
namespace barmap::sim {

using world_lock = std::unique_lock<std::mutex>;

/// One piece of work, to be waited for.
struct completion {
    bool done = false;
    std::chrono::steady_clock::time_point when; ///< it was done
};
using completions = std::vector<std::shared_ptr<completion>>;

/// Work that runs once all of `after` is done.
struct operation {
    completions after;
    std::function<void()> run; ///< without the mutex; may be empty
    std::shared_ptr<completion> done;
    std::vector<std::shared_ptr<void const>> uses{}; ///< what stays until it has run
};

/// Operations that run one after the other, on one thread at a time.
struct work_queue {
    bool blocking = true; ///< waits for the legacy default stream, and that for it
    std::deque<operation> queue;
    std::shared_ptr<completion> last; ///< of the newest operation; null before the first
    bool served = false;              ///< a thread has it, or will

    [[nodiscard]] bool idle() const noexcept { return !last || last->done; }

    /// @param extra one more completion that the work waits for; null: none
    std::shared_ptr<completion> append(completions after, std::function<void()> run,
                                       std::shared_ptr<completion> extra) {
        if (extra)
            after.push_back(std::move(extra));
        last = std::make_shared<completion>();
        queue.push_back({std::move(after), std::move(run), last});
        return last;
    }
};

inline void wait_for(completions const& what, world_lock& lock, std::condition_variable& changed) {
    for (auto const& each : what)
        changed.wait(lock, [&] { return each->done; });
}

/// Runs what a queue has, and what it gets meanwhile.
/// @param given_up where that becomes true, what is left counts as done
inline void work_off(work_queue& of, world_lock& lock, std::condition_variable& changed,
                     std::atomic<bool> const* given_up = nullptr) {
    while (!of.queue.empty()) {
        operation next = std::move(of.queue.front());
        of.queue.pop_front();
        wait_for(next.after, lock, changed);
        next.after.clear();
        if (next.run && !(given_up && *given_up)) {
            lock.unlock();
            next.run();
            next.run = nullptr;
            lock.lock();
        }
        next.uses.clear();
        next.done->done = true;
        next.done->when = std::chrono::steady_clock::now();
        changed.notify_all();
    }
    of.served = false;
}

/// The completions that work which is added to a queue now must wait for, its own predecessors
/// included.
/// @param owner its context or device: has a null_stream, and what has departed; null if it is gone
/// @param all   queues of every owner
template <class Queue, class Owner, class Queues>
[[nodiscard]] completions predecessors(Queue const& of, Owner const* owner, Queues const& all) {
    completions result;
    auto const add = [&](std::shared_ptr<completion> const& last) {
        if (last && !last->done)
            result.push_back(last);
    };
    add(of.last);
    if (!of.blocking || !owner)
        return result;
    if (owner->null_stream.get() != &of) {
        add(owner->null_stream->last);
        return result;
    }
    for (auto const& [handle, other] : all)
        if (other->owner == of.owner && other->blocking)
            add(other->last);
    for (auto const& last : owner->departed)
        add(last);
    return result;
}

/// The last work of every queue of an owner.
template <class Owner, class Queues>
[[nodiscard]] completions last_work(Owner const& of, Queues const& all) {
    completions pending = of.departed;
    auto const add = [&](std::shared_ptr<completion> const& last) {
        if (last)
            pending.push_back(last);
    };
    add(of.null_stream->last);
    for (auto const& [handle, other] : all)
        if (other->owner == of.null_stream->owner)
            add(other->last);
    return pending;
}

} // namespace barmap::sim
