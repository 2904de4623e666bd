// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"
#include "transfer/engine/engine.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace barmap::engine {

/// A stream, as the calling thread names it: cudaStreamPerThread is one handle for the streams of
/// all threads.
using stream_key = std::uintptr_t;

[[nodiscard]] inline stream_key key_of(CUstream stream) noexcept {
    constexpr std::uintptr_t per_thread = 2; // CU_STREAM_PER_THREAD
    auto const handle = reinterpret_cast<std::uintptr_t>(stream);
    if (handle != per_thread)
        return handle;
    static constinit std::atomic<stream_key> latest{0};
    static constinit thread_local stream_key of_this_thread = 0;
    static_assert(std::is_trivially_destructible_v<stream_key>);
    if (of_this_thread == 0)
        of_this_thread = 2 * ++latest + 1; // handles are even
    return of_this_thread;
}

/// The queues of a batch engine. Each runs its batches in order: one takes the batches that wait
/// for no stream, and a few for each direction take the others. A stream's batches stay in one
/// queue, where they delay no other stream's. If more streams wait than there are queues, they
/// share queues. Thread rule: threads may call every member concurrently.
/// @tparam Queue has is_idle(), which any thread may call
template <class Queue>
class queues {
public:
    /// One queue. A thread holds `busy` while it submits.
    struct slot {
        std::mutex busy;
        std::unique_ptr<Queue> queue;     ///< set once, before is_open
        std::atomic<bool> is_open{false}; ///< makes `queue` visible
        std::atomic<unsigned> visits{0};  ///< submissions that have chosen it
        stream_key latest = 0;  ///< the stream that its last batch waits for; under choice_
        bool is_shared = false; ///< by streams that found no idle queue; under choice_
        [[nodiscard]] Queue* get() const noexcept {
            return is_open.load(std::memory_order_acquire) ? queue.get() : nullptr;
        }
    };

    /// Marks a slot as in use until its submission is made.
    class visit {
    public:
        explicit visit(slot& to) noexcept : at_(to) { ++at_.visits; }
        visit(visit const&) = delete;
        visit& operator=(visit const&) = delete;
        ~visit() { --at_.visits; }
        [[nodiscard]] slot& operator*() const noexcept { return at_; }
        [[nodiscard]] slot* operator->() const noexcept { return &at_; }

    private:
        slot& at_;
    };

    /// The number of slots, with this many for each of the three directions.
    [[nodiscard]] static constexpr std::size_t count(std::size_t of_direction) noexcept {
        return 1 + 3 * of_direction;
    }

    /// @param make opens a queue at its first use, or throws; for batches in this direction that
    ///             wait for streams, or without one for those that do not
    /// @param of_direction how many queues wait for streams, in each direction; 0: no batch may
    queues(std::function<std::unique_ptr<Queue>(std::optional<direction>)> make,
           std::size_t of_direction)
        : make_(std::move(make)), of_direction_(of_direction), slots_(count(of_direction)) {}

    [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }
    [[nodiscard]] slot& at(std::size_t index) noexcept { return slots_[index]; }

    /// The queue for a batch. @throws what make throws; for a batch with a stream, only if no queue
    /// for streams is open
    [[nodiscard]] visit choose(std::optional<CUstream> const& after, direction which) {
        if (!after && slots_.front().get())
            return visit(slots_.front());
        std::lock_guard const hold(choice_);
        if (!after) {
            open(slots_.front(), {});
            return visit(slots_.front());
        }
        stream_key const key = key_of(*after);
        auto const is_latest = [&](slot const& each) {
            return each.is_open.load(std::memory_order_relaxed) && each.latest == key;
        };
        // A stream keeps its queue, unless it shares that because none was idle.
        if (slot* const its_own = find(
                of(which), [&](slot const& each) { return is_latest(each) && !each.is_shared; }))
            return visit(*its_own);
        // May call CUDA: 0.5 us.
        slot* found = find(of(which), [&](slot& each) { return is_free(each); });
        bool is_shared = !found;
        if (is_shared) {
            if (slot* const its_latest = find(of(which), is_latest))
                return visit(*its_latest);
            found = &of(which)[next_shared_++ % of_direction_];
        }
        if (are_opened_ && !found->get()) {
            found = any_that_waits();
            is_shared = true;
        }
        try {
            if (!found)
                found = &of(which).front(); // none could be opened: once more
            open(*found, which);
        } catch (std::exception const&) {
            found = any_that_waits(); // one queue suffices
            if (!found)
                throw;
            is_shared = true;
        }
        found->latest = key;
        found->is_shared = is_shared;
        return visit(*found);
    }

    /// Opens all queues that wait for streams; choose() opens none of them later. One that cannot
    /// be opened is left out.
    void open_all() {
        std::lock_guard const hold(choice_);
        for (direction const which : {direction::to_gpu, direction::to_cpu, direction::among_gpus})
            for (slot& each : of(which))
                try {
                    open(each, which);
                } catch (std::exception const&) {
                    // The others do its work.
                }
        are_opened_ = true;
    }

    /// Whether a batch would not wait for another stream.
    [[nodiscard]] bool holds_up_nothing(std::optional<CUstream> const& after, direction which) {
        if (!after)
            return true;
        stream_key const key = key_of(*after);
        std::lock_guard const hold(choice_);
        return std::ranges::any_of(of(which), [&](slot& each) {
            return is_free(each) || (each.latest == key && !each.is_shared);
        });
    }

private:
    [[nodiscard]] std::span<slot> of(direction which) noexcept {
        return std::span(slots_).subspan(1 + static_cast<std::size_t>(which) * of_direction_,
                                         of_direction_);
    }

    [[nodiscard]] static slot* find(std::span<slot> among, auto const& condition) {
        auto const found = std::ranges::find_if(among, condition);
        return found == among.end() ? nullptr : &*found;
    }

    [[nodiscard]] bool is_free(slot& which) const {
        if (!which.is_open.load(std::memory_order_relaxed))
            return !are_opened_;
        // In this order: a visit ends after its batch is in the queue.
        return which.visits.load() == 0 && which.queue->is_idle();
    }

    void open(slot& one, std::optional<direction> which) {
        if (one.is_open.load(std::memory_order_relaxed))
            return;
        one.queue = make_(which);
        one.is_open.store(true, std::memory_order_release);
    }

    [[nodiscard]] slot* any_that_waits() noexcept {
        for (std::size_t i = slots_.size(); --i > 0;)
            if (slots_[i].is_open.load(std::memory_order_relaxed))
                return &slots_[i];
        return nullptr;
    }

    std::function<std::unique_ptr<Queue>(std::optional<direction>)> make_;
    std::size_t of_direction_;
    std::mutex choice_;
    std::size_t next_shared_ = 0;
    bool are_opened_ = false; ///< by open_all(); under choice_
    std::vector<slot> slots_;
};

} // namespace barmap::engine
