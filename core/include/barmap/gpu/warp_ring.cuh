// SPDX-License-Identifier: MIT
/// The GPU's side of rings for whole warps, whose 32 lanes read or write a message each: the
/// fastest method. Not for HIP, whose wavefronts differ. On the CPU a warp has one lane.
#pragma once

#include <barmap/gpu/ring.cuh>
#include <barmap/gpu/warp.cuh>

#if defined(__HIP__) || defined(__HIPCC__)
#error "barmap's rings for warps are for CUDA: use barmap/gpu/ring.cuh"
#endif

namespace barmap {
namespace gpu {

/// As consumer, for a whole warp, whose lanes take a message each. All 32 lanes make, use and
/// destroy it together.
template <class T>
class warp_consumer {
public:
    BARMAP_DEVICE explicit warp_consumer(ring_to_gpu<T> const& ring)
        : ring_(ring), next_(load_relaxed(ring.control + ring_words::cursor)), returned_(next_) {}
    warp_consumer(warp_consumer const&) = delete;
    warp_consumer& operator=(warp_consumer const&) = delete;
    BARMAP_DEVICE ~warp_consumer() {
        if (detail::lane() == 0)
            store_relaxed(ring_.control + ring_words::cursor, next_);
        give_credit();
    }

    /// Polls for messages.
    /// @param value in lane i < count: message number() - count + i
    /// @param count how many messages were read, 1 to 32, if the result is ok; the same in all
    ///        lanes
    /// @param nanoseconds how long; 0: polls once
    BARMAP_DEVICE status pop(T& value, unsigned& count, word nanoseconds = 0) {
        bool is_closed = false;
        for (detail::time_limit limit(nanoseconds);;) {
            // take() is called in one place: a second inlined copy costs a warp up to 9 %, though
            // it makes a single thread faster.
            if ((count = take(value)) != 0)
                return status::ok;
            if (is_closed)
                return status::closed;
            if (limit.polls_again())
                continue;
            // Messages that were pushed before the ring was closed have arrived by now. All lanes
            // must agree on the result.
            is_closed =
                detail::ready_lanes(load_acquire(ring_.control + ring_words::closed_by_producer) !=
                                    0) == detail::lanes();
            if (!is_closed && detail::ready_lanes(limit.is_over()) == detail::lanes())
                return limit.without(status::empty);
        }
    }

    /// Declares that no message will be read any more: a push to the full ring returns `closed`.
    BARMAP_DEVICE void close() {
        if (detail::lane() == 0)
            store_release(ring_.credits + ring_words::closed_by_consumer, 1);
    }

    /// The number of the next message, counted from the ring's first.
    BARMAP_DEVICE word number() const { return next_; }

private:
    BARMAP_DEVICE unsigned take(T& value) {
        word const number = next_ + detail::lane();
        word const* const slot = detail::slot_of(ring_, number);
        typedef slot_to_gpu<T> slot_type;
        word words[slot_type::payload_words];
        unsigned count;
        if (slot_type::is_in_pairs) {
            count = detail::ready_lanes(detail::take_words<T>(slot, number + 1, words));
        } else {
            count = detail::ready_lanes(detail::has_arrived<T>(slot, number + 1));
            if (detail::lane() < count)
                detail::read_lines<T>(slot, words);
        }
        if (detail::lane() < count)
            copy_bytes(&value, words, sizeof value);
        next_ += count;
        if (next_ - returned_ >= detail::quarter_of(ring_.mask))
            give_credit();
        return count;
    }
    BARMAP_DEVICE void give_credit() {
        detail::join_lanes(); // all lanes have read their messages
        if (detail::lane() == 0)
            store_release(ring_.credits + ring_words::read, next_);
        returned_ = next_;
    }

    ring_to_gpu<T> ring_;
    word next_, returned_;
};

/// As producer, for a whole warp. All 32 lanes make, use and destroy it together.
template <class T>
class warp_producer {
public:
    BARMAP_DEVICE explicit warp_producer(ring_to_cpu<T> const& ring)
        : ring_(ring), next_(load_relaxed(ring.credits + ring_words::next)), read_(read()) {}
    warp_producer(warp_producer const&) = delete;
    warp_producer& operator=(warp_producer const&) = delete;
    BARMAP_DEVICE ~warp_producer() {
        detail::join_lanes();
        if (detail::lane() == 0)
            store_relaxed(ring_.credits + ring_words::next, next_);
    }

    /// Polls for room for the messages of lanes 0 to count - 1, and publishes them in that order.
    /// @param count the same in all lanes, 1 to 32, and at most the number of slots
    /// @param nanoseconds how long; 0: polls once
    BARMAP_DEVICE status push(T const& value, unsigned count, word nanoseconds = 0) {
        if (next_ + count - read_ > ring_.mask + 1) {
            status const room = wait_for_room(count, nanoseconds);
            if (room != status::ok)
                return room;
        }
        if (detail::lane() < count)
            detail::write_slot(detail::slot_of(ring_, next_ + detail::lane()),
                               next_ + detail::lane() + 1, value);
        next_ += count;
        return status::ok;
    }

    /// Declares that no message follows.
    BARMAP_DEVICE void close() {
        detail::join_lanes();
        if (detail::lane() == 0)
            store_release(ring_.control + ring_words::closed_by_producer, 1);
    }

private:
    /// How many messages the consumer has read; the same in all lanes, so that they agree on
    /// whether there is room.
    BARMAP_DEVICE word read() const {
        word const seen = detail::of_first_lane(load_acquire(ring_.credits + ring_words::read));
        detail::join_lanes();
        return seen;
    }
    BARMAP_DEVICE status wait_for_room(unsigned count, word nanoseconds) {
        for (detail::time_limit limit(nanoseconds);;) {
            read_ = read();
            if (next_ + count - read_ <= ring_.mask + 1)
                return status::ok;
            if (limit.polls_again())
                continue;
            bool const is_closed =
                load_relaxed(ring_.credits + ring_words::closed_by_consumer) != 0;
            if (detail::ready_lanes(is_closed) == detail::lanes())
                return status::closed;
            if (detail::ready_lanes(limit.is_over()) == detail::lanes())
                return limit.without(status::full);
        }
    }

    ring_to_cpu<T> ring_;
    word next_, read_;
};

} // namespace gpu
} // namespace barmap
