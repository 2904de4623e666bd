// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/types.hpp"
#include "transfer/engine/engine.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace barmap::engine {

/// The queues of a batch engine, each of which runs its batches in their order: one for batches
/// that wait for no stream, and a few for each direction for those that do. A stream's batches stay
/// in one queue, so that they hold up no other stream's; where more streams wait than there are
/// queues, they share them. Thread rule: every member may be called at once.
/// @tparam Queue has is_idle(), which any thread may ask
template <class Queue>
class queues {
public:
    /// One of them. Whoever submits holds `busy`.
    struct slot {
        std::mutex busy;
        std::unique_ptr<Queue> queue;     ///< set once, before is_open
        std::atomic<bool> is_open{false}; ///< makes `queue` visible
        std::atomic<unsigned> visits{0};  ///< submissions that have chosen it
        CUstream latest = nullptr;        ///< the stream that it waited for; with choice_ held
        bool is_shared = false;           ///< by streams that found no idle one; with choice_ held
        [[nodiscard]] Queue* get() const noexcept {
            return is_open.load(std::memory_order_acquire) ? queue.get() : nullptr;
        }
    };

    /// Keeps a slot from being taken for idle until its submission is made.
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

    /// With so many that wait for streams in each direction.
    [[nodiscard]] static constexpr std::size_t count(std::size_t of_direction) noexcept {
        return 1 + 3 * of_direction;
    }

    /// @param make opens a queue, when it is needed. @throws what cannot be had
    /// @param of_direction how many queues wait for streams, in each direction; 0: none may have to
    queues(std::function<std::unique_ptr<Queue>()> make, std::size_t of_direction)
        : make_(std::move(make)), of_direction_(of_direction), slots_(count(of_direction)) {}

    [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }
    [[nodiscard]] slot& at(std::size_t index) noexcept { return slots_[index]; }

    /// The queue for a batch. @throws what make throws, if no queue that waits can be had
    [[nodiscard]] visit choose(std::optional<CUstream> const& after, direction which) {
        if (!after && slots_.front().get())
            return visit(slots_.front());
        std::lock_guard const hold(choice_);
        if (!after) {
            open(slots_.front());
            return visit(slots_.front());
        }
        auto const is_latest = [&](slot const& each) {
            return each.is_open.load(std::memory_order_relaxed) && each.latest == *after;
        };
        // Its batches stay where they are, unless it shared that only for want of another one.
        if (slot* const its_own = find(
                of(which), [&](slot const& each) { return is_latest(each) && !each.is_shared; }))
            return visit(*its_own);
        slot* found = find(of(which), is_free); // which may ask CUDA, in 0.5 us
        bool is_shared = !found;
        if (is_shared) {
            if (slot* const its_latest = find(of(which), is_latest))
                return visit(*its_latest);
            found = &of(which)[next_shared_++ % of_direction_];
        }
        try {
            open(*found);
        } catch (std::exception const&) {
            found = any_that_waits(); // more queues than one are a convenience
            if (!found)
                throw;
            is_shared = true;
        }
        found->latest = *after;
        found->is_shared = is_shared;
        return visit(*found);
    }

    /// Whether a batch would wait for no other stream's.
    [[nodiscard]] bool holds_up_nothing(std::optional<CUstream> const& after, direction which) {
        if (!after)
            return true;
        std::lock_guard const hold(choice_);
        return std::ranges::any_of(of(which), [&](slot& each) {
            return is_free(each) || (each.latest == *after && !each.is_shared);
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

    [[nodiscard]] static bool is_free(slot& which) {
        // In this order: a visit ends when its batch is there.
        return !which.is_open.load(std::memory_order_relaxed) ||
               (which.visits.load() == 0 && which.queue->is_idle());
    }

    void open(slot& which) {
        if (which.is_open.load(std::memory_order_relaxed))
            return;
        which.queue = make_();
        which.is_open.store(true, std::memory_order_release);
    }

    [[nodiscard]] slot* any_that_waits() noexcept {
        for (std::size_t i = slots_.size(); --i > 0;)
            if (slots_[i].is_open.load(std::memory_order_relaxed))
                return &slots_[i];
        return nullptr;
    }

    std::function<std::unique_ptr<Queue>()> make_;
    std::size_t of_direction_;
    std::mutex choice_;
    std::size_t next_shared_ = 0;
    std::vector<slot> slots_;
};

} // namespace barmap::engine
