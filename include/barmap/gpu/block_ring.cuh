// SPDX-License-Identifier: MIT
/// The GPU's side of rings for whole blocks, all of whose threads move one message together: for
/// large messages, and for commands that a block carries out. Not for HIP. For the CPU a block has
/// one thread.
///
///     __global__ void serve(barmap::gpu::ring_to_gpu<command> in) {
///         __shared__ command next;
///         barmap::gpu::block_consumer<command> commands(in);
///         while (commands.pop(next, 1000000) == barmap::gpu::status::ok)
///             work(next); // all threads
///     }
#pragma once

#include <barmap/gpu/ring.cuh>

#if defined(__HIP__) || defined(__HIPCC__)
#error "barmap's rings for blocks are for CUDA: use barmap/gpu/ring.cuh"
#endif

namespace barmap {
namespace gpu {

namespace detail {

BARMAP_DEVICE unsigned thread_in_block() {
#if defined(BARMAP_ON_CUDA)
    unsigned x, y, z, width, height;
    asm("mov.u32 %0, %%tid.x;" : "=r"(x));
    asm("mov.u32 %0, %%tid.y;" : "=r"(y));
    asm("mov.u32 %0, %%tid.z;" : "=r"(z));
    asm("mov.u32 %0, %%ntid.x;" : "=r"(width));
    asm("mov.u32 %0, %%ntid.y;" : "=r"(height));
    return x + width * (y + height * z);
#else
    return 0;
#endif
}

BARMAP_DEVICE unsigned threads_of_block() {
#if defined(BARMAP_ON_CUDA)
    unsigned width, height, depth;
    asm("mov.u32 %0, %%ntid.x;" : "=r"(width));
    asm("mov.u32 %0, %%ntid.y;" : "=r"(height));
    asm("mov.u32 %0, %%ntid.z;" : "=r"(depth));
    return width * height * depth;
#else
    return 1;
#endif
}

/// Whether all threads of the block say so. What each has loaded and stored comes before what any
/// loads and stores later.
BARMAP_DEVICE bool all_of_block(bool says) {
#if defined(BARMAP_ON_CUDA)
    unsigned all;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; barrier.red.and.pred q, 0, p; "
                 "selp.u32 %0, 1, 0, q; }"
                 : "=r"(all)
                 : "r"(static_cast<unsigned>(says))
                 : "memory");
    return all != 0;
#else
    return says;
#endif
}

/// The 8 bytes of a message that begin at a word, or what is left of it.
template <class T>
class part_of {
public:
    BARMAP_DEVICE part_of(T* message, unsigned index) : message_(message), index_(index) {}

    BARMAP_DEVICE word get() const {
        word result = 0;
        if (is_whole()) {
            copy_bytes(&result, __builtin_assume_aligned(at(), 8), sizeof result);
            return result;
        }
        for (unsigned long i = index_ * 8ul; i < sizeof(T) && i < index_ * 8ul + 8; ++i)
            result |= word(reinterpret_cast<unsigned char const*>(message_)[i]) << (i % 8 * 8);
        return result;
    }
    BARMAP_DEVICE void set(word bytes) const {
        if (is_whole()) {
            copy_bytes(__builtin_assume_aligned(at(), 8), &bytes, sizeof bytes);
            return;
        }
        for (unsigned long i = index_ * 8ul; i < sizeof(T) && i < index_ * 8ul + 8; ++i)
            reinterpret_cast<unsigned char*>(message_)[i] =
                static_cast<unsigned char>(bytes >> (i % 8 * 8));
    }

private:
    BARMAP_DEVICE bool is_whole() const {
        return alignof(T) % 8 == 0 && index_ * 8ul + 8 <= sizeof(T);
    }
    BARMAP_DEVICE void* at() const {
        return const_cast<unsigned char*>(reinterpret_cast<unsigned char const*>(message_)) +
            index_ * 8ul;
    }
    T* message_;
    unsigned index_;
};

} // namespace detail

/// As consumer, by a whole block. All its threads make, use and destroy it together.
template <class T>
class block_consumer {
public:
    BARMAP_DEVICE explicit block_consumer(ring_to_gpu<T> const& ring)
        : ring_(ring), next_(load_relaxed(ring.control + ring_words::cursor)), returned_(next_) {}
    block_consumer(block_consumer const&) = delete;
    block_consumer& operator=(block_consumer const&) = delete;
    BARMAP_DEVICE ~block_consumer() {
        detail::all_of_block(true); // have all read where it begins
        if (detail::thread_in_block() == 0)
            store_relaxed(ring_.control + ring_words::cursor, next_);
        give_credit();
    }

    /// Waits for the next message. @param value the same for all threads, in shared or GPU memory
    /// @return as consumer::pop(). The same in all threads, which all see the message
    BARMAP_DEVICE status pop(T& value, word more_looks = 0) {
        for (word look = 0;; ++look) {
            if (take(value))
                return status::ok;
            bool const is_last = look >= more_looks;
            if (is_last || look % detail::looks_per_question == detail::looks_per_question - 1) {
                bool const is_closed =
                    load_acquire(ring_.control + ring_words::closed_by_producer) != 0;
                if (detail::all_of_block(is_closed))
                    return take(value) ? status::ok : status::closed;
                if (is_last)
                    return detail::without(status::empty, more_looks);
            }
        }
    }

    /// Lets the producer know that nothing will be read any more.
    BARMAP_DEVICE void close() {
        if (detail::thread_in_block() == 0)
            store_release(ring_.credits + ring_words::closed_by_consumer, 1);
    }

    /// The number of the next message, counted from the ring's first.
    BARMAP_DEVICE word number() const { return next_; }

private:
    typedef slot_to_gpu<T> slot_type;

    BARMAP_DEVICE bool take(T& value) {
        word const* const slot = ring_.slots + (next_ & ring_.mask) * slot_type::words;
        unsigned const thread = detail::thread_in_block(), threads = detail::threads_of_block();
        bool is_there = true;
        for (unsigned i = thread; i < slot_type::commits; i += threads)
            is_there = is_there &&
                load_acquire(slot + detail::place_of_commit(i, slot_type::payload_words)) ==
                    next_ + 1;
        if (!detail::all_of_block(is_there))
            return false;
        for (unsigned i = thread; i < slot_type::payload_words; i += threads)
            detail::part_of<T>(&value, i)
                .set(load_relaxed(slot + detail::place_of_word(i, slot_type::payload_words)));
        ++next_;
        if (next_ - returned_ >= detail::quarter_of(ring_.mask))
            give_credit();
        else
            detail::all_of_block(true);
        return true;
    }
    BARMAP_DEVICE void give_credit() {
        detail::all_of_block(true); // have read theirs
        if (detail::thread_in_block() == 0)
            store_release(ring_.credits + ring_words::read, next_);
        returned_ = next_;
    }

    ring_to_gpu<T> ring_;
    word next_, returned_;
};

/// As producer, by a whole block. All its threads make, use and destroy it together.
template <class T>
class block_producer {
public:
    BARMAP_DEVICE explicit block_producer(ring_to_cpu<T> const& ring)
        : ring_(ring), next_(load_relaxed(ring.credits + ring_words::next)),
          read_(load_acquire(ring.credits + ring_words::read)) {}
    block_producer(block_producer const&) = delete;
    block_producer& operator=(block_producer const&) = delete;
    BARMAP_DEVICE ~block_producer() {
        detail::all_of_block(true);
        if (detail::thread_in_block() == 0)
            store_relaxed(ring_.credits + ring_words::next, next_);
    }

    /// Waits for room, and publishes a message that all threads of the block see, with all that any
    /// of them has stored before. @return as producer::push(). The same in all threads
    BARMAP_DEVICE status push(T const& value, word more_looks = 0) {
        for (word look = 0; next_ - read_ > ring_.mask; ++look) {
            word const read = load_acquire(ring_.credits + ring_words::read);
            if (detail::all_of_block(next_ - read <= ring_.mask)) { // alike in all
                read_ = read;
                break;
            }
            bool const is_last = look >= more_looks;
            if (is_last || look % detail::looks_per_question == detail::looks_per_question - 1) {
                bool const is_closed =
                    load_relaxed(ring_.credits + ring_words::closed_by_consumer) != 0;
                if (detail::all_of_block(is_closed))
                    return status::closed;
            }
            if (is_last)
                return detail::without(status::full, more_looks);
        }
        word* const slot = ring_.slots + (next_ & ring_.mask) * slot_type::words;
        unsigned const thread = detail::thread_in_block(), threads = detail::threads_of_block();
        for (unsigned i = thread; i < slot_type::payload_words; i += threads) {
            store_relaxed(slot + i, detail::part_of<T const>(&value, i).get());
        }
        detail::all_of_block(true); // have written theirs
        if (thread == 0) {
            fence_system();
            store_release(slot + slot_type::words - 1, next_ + 1);
        }
        ++next_;
        return status::ok;
    }

    /// Lets the consumer know that nothing more will be pushed.
    BARMAP_DEVICE void close() {
        detail::all_of_block(true);
        if (detail::thread_in_block() == 0)
            store_release(ring_.control + ring_words::closed_by_producer, 1);
    }

private:
    typedef slot_to_cpu<T> slot_type;

    ring_to_cpu<T> ring_;
    word next_, read_; ///< the latter differs between threads, and is never ahead
};

} // namespace gpu
} // namespace barmap
