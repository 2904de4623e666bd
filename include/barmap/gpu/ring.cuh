// SPDX-License-Identifier: MIT
/// Rings between a CPU and running GPU code: the GPU's side. <barmap/ring.hpp> makes them, and the
/// rules are in share/doc/barmap/rings.md.
///
///     __global__ void serve(barmap::gpu::ring_to_gpu<command> in, barmap::gpu::ring_to_cpu<answer> out) {
///         barmap::gpu::consumer<command> commands(in);
///         barmap::gpu::producer<answer> answers(out);
///         command next;
///         while (commands.pop(next, 1000000000) == barmap::gpu::status::ok) // 1 s
///             answers.push(work(next), 1000000000);
///     }
///
/// Times are in nanoseconds. The clock is read after each 64 polls, of about a microsecond each: who waits in
/// vain waits for up to 128 polls longer, and a message that is there at once costs no reading.
///
/// A whole warp reads and writes by consumer<command, by_warp> and producer<answer, by_warp>.
/// The structs are plain and are passed to kernels by value. Compiles as <barmap/gpu/words.cuh>.
#pragma once

#include <barmap/gpu/slots.cuh>
#include <barmap/gpu/status.cuh>
#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {

/// Where a ring lies, whatever its messages are.
struct ring_handle {
    word* slots;
    word* control; ///< closed by the producer; in a ring to the GPU, where the next consumer begins
    word* credits; ///< how many messages have been read; closed by the consumer; in a ring to the
                   ///< CPU, the number of the next message
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

/// Of control and credits.
struct ring_words {
    static constexpr unsigned closed_by_producer = 0, cursor = 1;          ///< of control
    static constexpr unsigned read = 0, closed_by_consumer = 1, next = 2; ///< of credits
    static constexpr unsigned bytes = 64;                                  ///< of each
};

/// Who reads or writes a ring. One thread, a message at a time.
struct by_thread {
    static BARMAP_DEVICE unsigned lane() { return 0; }
    static BARMAP_DEVICE unsigned lanes() { return 1; }
    static BARMAP_DEVICE unsigned ready(bool is_ready) { return is_ready ? 1 : 0; }
    static BARMAP_DEVICE bool agree(word) { return true; }
    static BARMAP_DEVICE void join() {}
};

/// A whole warp, whose 32 lanes read or write a message each: the fastest way. All lanes make, use and destroy a
/// consumer or producer together. Not for HIP, whose wavefronts differ. For the CPU a warp has one lane.
#if defined(__HIP__) || defined(__HIPCC__)
struct by_warp; // for CUDA only: use by_thread
#else
struct by_warp {
    static BARMAP_DEVICE unsigned lane() {
#if defined(BARMAP_ON_CUDA)
        unsigned result;
        asm("mov.u32 %0, %%laneid;" : "=r"(result));
        return result;
#else
        return 0;
#endif
    }
    static BARMAP_DEVICE unsigned lanes() {
#if defined(BARMAP_ON_CUDA)
        return 32;
#else
        return 1;
#endif
    }
    /// How many lanes from the first on are ready.
    static BARMAP_DEVICE unsigned ready(bool is_ready) {
#if defined(BARMAP_ON_CUDA)
        unsigned ready;
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                     : "=r"(ready)
                     : "r"(static_cast<unsigned>(is_ready)), "r"(all_lanes)
                     : "memory");
        unsigned first_zero;
        asm("{ .reg .b32 r; brev.b32 r, %1; bfind.shiftamt.u32 %0, r; }"
            : "=r"(first_zero)
            : "r"(~ready));
        return first_zero > 32 ? 32 : first_zero;
#else
        return is_ready ? 1 : 0;
#endif
    }
    /// Whether all lanes have the same value.
    static BARMAP_DEVICE bool agree(word value) {
#if defined(BARMAP_ON_CUDA)
        unsigned same;
        asm volatile("{ .reg .b32 r; .reg .pred p; match.all.sync.b64 r|p, %1, %2; "
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(same)
                     : "l"(value), "r"(all_lanes)
                     : "memory");
        return same != 0;
#else
        (void)value;
        return true;
#endif
    }
    /// What each lane has loaded and stored comes before what any loads and stores later.
    static BARMAP_DEVICE void join() {
#if defined(BARMAP_ON_CUDA)
        asm volatile("bar.warp.sync %0;" : : "r"(all_lanes) : "memory");
#endif
    }

private:
    static constexpr unsigned all_lanes = 0xffffffff;
};
#endif

namespace detail {

/// After how many messages credits are returned.
BARMAP_DEVICE word quarter_of(word mask) {
    return mask < 4 ? 1 : (mask + 1) / 4;
}

/// Where the message of this number lies.
template <class T>
BARMAP_DEVICE word const* slot_of(ring_to_gpu<T> const& ring, word number) {
    return ring.slots + (number & ring.mask) * slot_to_gpu<T>::words;
}
/// Where the message of this number goes.
template <class T>
BARMAP_DEVICE word* slot_of(ring_to_cpu<T> const& ring, word number) {
    return ring.slots + (number & ring.mask) * slot_to_cpu<T>::words;
}

/// Stores a word behind what all lanes have loaded and stored.
template <class Scope>
BARMAP_DEVICE void publish(word* to, word value) {
    Scope::join();
    if (Scope::lane() == 0)
        store_release(to, value);
}

/// What a consumer is, whoever reads: each lane a message.
template <class T, class Scope>
class reader {
public:
    reader(reader const&) = delete;
    reader& operator=(reader const&) = delete;

    /// Lets the producer know that nothing will be read any more.
    BARMAP_DEVICE void close() { publish<Scope>(ring_.credits + ring_words::closed_by_consumer, 1); }

    /// The number of the next message, counted from the ring's first.
    BARMAP_DEVICE word number() const { return next_ + taken_; }

protected:
    BARMAP_DEVICE explicit reader(ring_to_gpu<T> const& ring)
        : ring_(ring), next_(load_relaxed(ring.control + ring_words::cursor)),
          slot_(slot_of(ring, next_ + Scope::lane())), until_credit_(quarter_of(ring.mask)) {}
    BARMAP_DEVICE ~reader() {
        finish();
        if (Scope::lane() == 0)
            store_relaxed(ring_.control + ring_words::cursor, next_);
        give_credit();
    }

    /// Waits for messages, of which lane i < count gets the i-th.
    BARMAP_DEVICE status wait(T& value, unsigned& count, word nanoseconds) {
        finish();
        for (time_limit limit(nanoseconds);;) {
            BARMAP_ROLL
            for (unsigned polls = limit.polls(); polls != 0; --polls) // with nothing between them
                if ((count = take(value)) != 0)
                    return status::ok;
            // What was pushed before the ring was closed is there by then. Lanes agree on how it ends.
            bool const is_closed =
                load_acquire(ring_.control + ring_words::closed_by_producer) != 0;
            if (Scope::ready(is_closed) == Scope::lanes())
                return (count = take(value)) != 0 ? status::ok : status::closed;
            if (Scope::ready(limit.is_over()) == Scope::lanes())
                return limit.without(status::empty);
        }
    }

private:
    BARMAP_DEVICE unsigned take(T& value) {
        typedef slot_to_gpu<T> slot_type;
        word const commit = next_ + Scope::lane() + 1;
        word words[slot_type::payload_words];
        bool const is_there = slot_type::is_in_pairs ? take_words<T>(slot_, commit, words)
                                                     : has_arrived<T>(slot_, commit);
        unsigned const count = Scope::ready(is_there);
        if (count == 0)
            return 0;
        taken_ = count;
        if (Scope::lane() < count) {
            if (!slot_type::is_in_pairs)
                read_lines<T>(slot_, words);
            copy_bytes(&value, words, sizeof value);
        }
        return count;
    }
    /// What follows messages, when nobody waits for what they bring.
    BARMAP_DEVICE void finish() {
        if (taken_ == 0)
            return;
        next_ += taken_;
        slot_ = slot_of(ring_, next_ + Scope::lane());
        until_credit_ -= taken_;
        taken_ = 0;
        if (until_credit_ <= 0)
            give_credit();
    }
    BARMAP_DEVICE void give_credit() {
        if (Scope::lanes() == 1)
            store_after_reading<T>(ring_.credits + ring_words::read, next_);
        else
            publish<Scope>(ring_.credits + ring_words::read, next_);
        until_credit_ = static_cast<long long>(quarter_of(ring_.mask));
    }

    ring_to_gpu<T> ring_;
    word next_;
    word const* slot_;       ///< of the lane's next message: known before it is looked for
    long long until_credit_; ///< messages
    unsigned taken_ = 0;     ///< messages from next_ on
};

/// What a producer is, whoever writes: each lane a message.
template <class T, class Scope>
class writer {
public:
    writer(writer const&) = delete;
    writer& operator=(writer const&) = delete;

    /// Lets the consumer know that nothing more will be pushed.
    BARMAP_DEVICE void close() { publish<Scope>(ring_.control + ring_words::closed_by_producer, 1); }

protected:
    BARMAP_DEVICE explicit writer(ring_to_cpu<T> const& ring)
        : ring_(ring), next_(load_relaxed(ring.credits + ring_words::next)),
          slot_(slot_of(ring, next_ + Scope::lane())), room_(room()) {}
    BARMAP_DEVICE ~writer() {
        Scope::join();
        if (Scope::lane() == 0)
            store_relaxed(ring_.credits + ring_words::next, next_);
    }

    /// Publishes the messages of the lanes below count, in that order, once there is room.
    BARMAP_DEVICE status write(T const& value, unsigned count, word nanoseconds) {
        if (__builtin_expect(room_ < count, 0)) {
            status const found = wait_for_room(count, nanoseconds);
            if (found != status::ok)
                return found;
        }
        if (Scope::lane() < count)
            write_slot(slot_, next_ + Scope::lane() + 1, value);
        room_ -= count;
        next_ += count;
        slot_ = slot_of(ring_, next_ + Scope::lane());
        return status::ok;
    }

private:
    /// How much room there is, in all lanes alike: none where they have seen different credits.
    BARMAP_DEVICE word room() const {
        word const read = load_acquire(ring_.credits + ring_words::read);
        return Scope::agree(read) ? ring_.mask + 1 - (next_ - read) : 0;
    }
    BARMAP_DEVICE status wait_for_room(unsigned count, word nanoseconds) {
        for (time_limit limit(nanoseconds);;) {
            BARMAP_ROLL
            for (unsigned polls = limit.polls(); polls != 0; --polls) {
                room_ = room();
                if (room_ >= count)
                    return status::ok;
            }
            bool const is_closed =
                load_relaxed(ring_.credits + ring_words::closed_by_consumer) != 0;
            if (Scope::ready(is_closed) == Scope::lanes())
                return status::closed;
            if (Scope::ready(limit.is_over()) == Scope::lanes())
                return limit.without(status::full);
        }
    }

    ring_to_cpu<T> ring_;
    word next_;
    word* slot_; ///< of the lane's next message
    word room_;  ///< messages, at least
};

} // namespace detail

/// Reads a ring's messages, in order. One at a time: a thread's own, of one kernel, or a warp's. It takes over
/// where the one before has ended, which its destructor says: a kernel that is stopped in the middle leaves
/// messages that are read twice.
template <class T, class Scope = by_thread>
class consumer : public detail::reader<T, Scope> {
public:
    BARMAP_DEVICE explicit consumer(ring_to_gpu<T> const& ring) : detail::reader<T, Scope>(ring) {}

    /// Waits for messages. The credit for those before may be returned only now.
    /// @param value in lane i < count: that of number() - count + i
    /// @param count how many there were, 1 to 32, where the result is ok. The same in all lanes
    /// @param nanoseconds how long; 0: polls once
    /// @return ok, empty (nanoseconds is 0), closed or timed_out
    BARMAP_DEVICE status pop(T& value, unsigned& count, word nanoseconds = 0) {
        return this->wait(value, count, nanoseconds);
    }
};

template <class T>
class consumer<T, by_thread> : public detail::reader<T, by_thread> {
public:
    BARMAP_DEVICE explicit consumer(ring_to_gpu<T> const& ring)
        : detail::reader<T, by_thread>(ring) {}

    /// The same for one message.
    BARMAP_DEVICE status pop(T& value, word nanoseconds = 0) {
        unsigned count;
        return this->wait(value, count, nanoseconds);
    }
};

/// Writes messages to the CPU, in order. One at a time, as a consumer, and not beside push().
template <class T, class Scope = by_thread>
class producer : public detail::writer<T, Scope> {
public:
    BARMAP_DEVICE explicit producer(ring_to_cpu<T> const& ring) : detail::writer<T, Scope>(ring) {}

    /// Waits for room for the messages of lanes 0 to count - 1, and publishes them in that order. Other
    /// memory that the CPU is to see with them needs a fence_system() before.
    /// @param count the same in all lanes, 1 to 32, and at most the number of slots
    /// @param nanoseconds how long; 0: polls once
    /// @return ok, full (nanoseconds is 0), closed or timed_out
    BARMAP_DEVICE status push(T const& value, unsigned count, word nanoseconds = 0) {
        return this->write(value, count, nanoseconds);
    }
};

template <class T>
class producer<T, by_thread> : public detail::writer<T, by_thread> {
public:
    BARMAP_DEVICE explicit producer(ring_to_cpu<T> const& ring)
        : detail::writer<T, by_thread>(ring) {}

    /// The same for one message.
    BARMAP_DEVICE status push(T const& value, word nanoseconds = 0) {
        return this->write(value, 1, nanoseconds);
    }
};

/// Publishes a message from any thread of the GPU, beside others that do so. Nothing is pushed
/// unless there is room, so that a thread that gives up leaves no hole.
/// @param nanoseconds how long to wait for room; 0: polls once
/// @return ok, full (nanoseconds is 0), closed or timed_out
template <class T>
BARMAP_DEVICE status push(ring_to_cpu<T> const& ring, T const& value, word nanoseconds = 0) {
    word* const next = ring.credits + ring_words::next;
    for (detail::time_limit limit(nanoseconds);;) {
        BARMAP_ROLL
        for (unsigned polls = limit.polls(); polls != 0;) {
            word const number = load_relaxed(next);
            word const read = load_acquire(ring.credits + ring_words::read);
            // What is read may be ahead of a number that others have taken since.
            if (static_cast<long long>(number - read) <= static_cast<long long>(ring.mask)) {
                if (replace(next, number, number + 1)) {
                    detail::write_slot(detail::slot_of(ring, number), number + 1, value);
                    return status::ok;
                }
                continue; // another thread has taken the number: that bounds it
            }
            if (load_relaxed(ring.credits + ring_words::closed_by_consumer) != 0)
                return status::closed;
            --polls;
        }
        if (limit.is_over())
            return limit.without(status::full);
    }
}

} // namespace gpu
} // namespace barmap
