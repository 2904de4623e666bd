// SPDX-License-Identifier: MIT
/// Rings between a CPU and running GPU code: the GPU's side. <barmap/ring.hpp> makes them, and the
/// rules are in share/doc/barmap/rings.md.
///
///     __global__ void serve(barmap::gpu::ring_to_gpu<command> in, barmap::gpu::ring_to_cpu<answer>
///     out) {
///         barmap::gpu::consumer<command> commands(in);
///         barmap::gpu::producer<answer> answers(out);
///         command next;
///         while (commands.pop(next, 1000000000) == barmap::gpu::status::ok) // 1 s
///             answers.push(work(next), 1000000000);
///     }
///
/// Times are in nanoseconds. The clock is read only after each 64 polls, of about a microsecond
/// each. So a wait that times out may last up to 128 polls longer, and a message that is already
/// there costs no reading of the clock.
///
/// The structs are plain and are passed to kernels by value. Compiles as <barmap/gpu/words.cuh>.
#pragma once

#include <barmap/gpu/slots.cuh>
#include <barmap/gpu/status.cuh>
#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {

/// The addresses of a ring, for any type of message.
struct ring_handle {
    word* slots;
    word* control; ///< closed by the producer; in a ring to the GPU, where the next consumer begins
    word* credits; ///< how many messages were read; closed by the consumer; in a ring to the CPU,
                   ///< the number of the next message
    word mask;     ///< number of slots less 1, a power of two less 1
};

/// Messages from the CPU. Slots and control words lie in GPU memory, credits in the host's.
template <class T>
struct ring_to_gpu {
    word *slots, *control, *credits;
    word mask;
};

/// Messages to the CPU. Slots and control words lie in host memory, credits in the GPU's.
template <class T>
struct ring_to_cpu {
    word *slots, *control, *credits;
    word mask;
};

/// Indices of the words of control and credits.
struct ring_words {
    static constexpr unsigned closed_by_producer = 0, cursor = 1;         ///< in control
    static constexpr unsigned read = 0, closed_by_consumer = 1, next = 2; ///< in credits
    static constexpr unsigned bytes = 64;                                 ///< size of each
};

namespace detail {

/// The number of messages after which a reader returns credits.
BARMAP_DEVICE word quarter_of(word mask) {
    return mask < 4 ? 1 : (mask + 1) / 4;
}

/// Where the message of this number lies.
template <class T>
BARMAP_DEVICE word const* slot_of(ring_to_gpu<T> const& ring, word number) {
    return ring.slots + (number & ring.mask) * slot_to_gpu<T>::words;
}

} // namespace detail

/// Reads a ring's messages, in order. A ring has one consumer at a time, which one thread uses. The
/// destructor stores where it has ended, and the next consumer continues there: after a kernel that
/// was stopped in the middle, messages may be read twice.
template <class T>
class consumer {
public:
    BARMAP_DEVICE explicit consumer(ring_to_gpu<T> const& ring)
        : ring_(ring), next_(load_relaxed(ring.control + ring_words::cursor)),
          slot_(detail::slot_of(ring, next_)), until_credit_(detail::quarter_of(ring.mask)) {}
    consumer(consumer const&) = delete;
    consumer& operator=(consumer const&) = delete;
    BARMAP_DEVICE ~consumer() {
        finish();
        store_relaxed(ring_.control + ring_words::cursor, next_);
        give_credit();
    }

    /// Polls for the next message. The credit for the one before may be returned only now.
    /// @param nanoseconds how long; 0: polls once
    /// @return ok, empty (nanoseconds is 0), closed or timed_out
    BARMAP_DEVICE status pop(T& value, word nanoseconds = 0) {
        finish();
        for (detail::time_limit limit(nanoseconds);;) {
            if (take(value))
                return status::ok;
            if (limit.polls_again())
                continue;
            // Messages that were pushed before the ring was closed have arrived by now.
            if (load_acquire(ring_.control + ring_words::closed_by_producer) != 0)
                return take(value) ? status::ok : status::closed;
            if (limit.is_over())
                return limit.without(status::empty);
        }
    }

    /// Declares that no message will be read any more: a push to the full ring returns `closed`.
    BARMAP_DEVICE void close() { store_release(ring_.credits + ring_words::closed_by_consumer, 1); }

    /// The number of the next message, counted from the ring's first.
    BARMAP_DEVICE word number() const { return next_ + (has_taken_ ? 1 : 0); }

private:
    BARMAP_DEVICE bool take(T& value) {
        has_taken_ = detail::take_slot(slot_, next_ + 1, value);
        return has_taken_;
    }
    /// Frees the slot of the message before, outside of the time until a message is returned.
    BARMAP_DEVICE void finish() {
        if (!has_taken_)
            return;
        has_taken_ = false;
        ++next_;
        slot_ = detail::slot_of(ring_, next_);
        if (--until_credit_ == 0)
            give_credit();
    }
    BARMAP_DEVICE void give_credit() {
        detail::store_after_reading<T>(ring_.credits + ring_words::read, next_);
        until_credit_ = detail::quarter_of(ring_.mask);
    }

    ring_to_gpu<T> ring_;
    word next_;
    word const* slot_;       ///< of the next message: computed before it is polled
    word until_credit_;      ///< messages until credits are returned
    bool has_taken_ = false; ///< whether the message of slot_ was taken
};

namespace detail {

/// Where the message of this number goes.
template <class T>
BARMAP_DEVICE word* slot_of(ring_to_cpu<T> const& ring, word number) {
    return ring.slots + (number & ring.mask) * slot_to_cpu<T>::words;
}

} // namespace detail

/// Writes messages to the CPU, in order. A ring has one producer at a time, as with a consumer, and
/// no thread may call push() meanwhile.
template <class T>
class producer {
public:
    BARMAP_DEVICE explicit producer(ring_to_cpu<T> const& ring)
        : ring_(ring), next_(load_relaxed(ring.credits + ring_words::next)),
          slot_(detail::slot_of(ring, next_)),
          room_(ring.mask + 1 - (next_ - load_acquire(ring.credits + ring_words::read))) {}
    producer(producer const&) = delete;
    producer& operator=(producer const&) = delete;
    BARMAP_DEVICE ~producer() { store_relaxed(ring_.credits + ring_words::next, next_); }

    /// Polls for room, and publishes a message. Call fence_system() before if the CPU must also see
    /// other memory that this thread stored to.
    /// @param nanoseconds how long; 0: polls once
    /// @return ok, full (nanoseconds is 0), closed or timed_out
    BARMAP_DEVICE status push(T const& value, word nanoseconds = 0) {
        if (__builtin_expect(room_ == 0, 0)) {
            status const room = wait_for_room(nanoseconds);
            if (room != status::ok)
                return room;
        }
        detail::write_slot(slot_, next_ + 1, value);
        --room_;
        ++next_;
        slot_ = detail::slot_of(ring_, next_);
        return status::ok;
    }

    /// Declares that no message follows.
    BARMAP_DEVICE void close() { store_release(ring_.control + ring_words::closed_by_producer, 1); }

private:
    BARMAP_DEVICE status wait_for_room(word nanoseconds) {
        for (detail::time_limit limit(nanoseconds);;) {
            word const read = load_acquire(ring_.credits + ring_words::read);
            room_ = ring_.mask + 1 - (next_ - read);
            if (room_ != 0)
                return status::ok;
            if (limit.polls_again())
                continue;
            if (load_relaxed(ring_.credits + ring_words::closed_by_consumer) != 0)
                return status::closed;
            if (limit.is_over())
                return limit.without(status::full);
        }
    }

    ring_to_cpu<T> ring_;
    word next_;
    word* slot_; ///< of the next message
    word room_;  ///< at least this many messages fit
};

/// Publishes a message. Any number of GPU threads may call it at once. It takes a slot only if
/// there is room, so a thread that gives up leaves no hole.
/// @param nanoseconds how long to wait for room; 0: polls once
/// @return ok, full (nanoseconds is 0), closed or timed_out
template <class T>
BARMAP_DEVICE status push(ring_to_cpu<T> const& ring, T const& value, word nanoseconds = 0) {
    word* const next = ring.credits + ring_words::next;
    for (detail::time_limit limit(nanoseconds);;) {
        word const number = load_relaxed(next);
        word const read = load_acquire(ring.credits + ring_words::read);
        // The reader may be ahead of this number, if other threads have taken numbers since.
        if (static_cast<long long>(number - read) <= static_cast<long long>(ring.mask)) {
            if (replace(next, number, number + 1)) {
                detail::write_slot(detail::slot_of(ring, number), number + 1, value);
                return status::ok;
            }
            continue; // another thread has taken the number, so the threads make progress
        }
        if (load_relaxed(ring.credits + ring_words::closed_by_consumer) != 0)
            return status::closed;
        if (!limit.polls_again() && limit.is_over())
            return limit.without(status::full);
    }
}

} // namespace gpu
} // namespace barmap
