// SPDX-License-Identifier: MIT
/// Rings whose message size is known at run time only. <barmap/ring.hpp>, the C interface and
/// Python build on them.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/copy.hpp>
#include <barmap/gpu/ring.cuh>
#include <barmap/shared_signal.hpp>
#include <barmap/signal_words.hpp>
#include <barmap/slots.hpp>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {
namespace detail {

/// @return the number of slots
/// @throws error errc::invalid_argument unless slots is a power of two, and messages have 1 byte to
///         1 MiB
BARMAP_API std::size_t checked_slots(std::size_t slots, std::size_t message_bytes);

/// As ring_to_gpu, with a message size that is given at run time. The same thread rules apply.
class BARMAP_API byte_ring_to_gpu {
public:
    /// @param message_bytes size of a message, 1 to 2^20
    /// @param slots how many messages it holds, a power of two
    /// @param first number of the first message
    /// @throws error errc::invalid_argument; errc::out_of_range if the arena has no room; without
    ///         an arena, as arena::arena()
    byte_ring_to_gpu(arena const& memory, std::size_t message_bytes, std::size_t slots,
                     std::uint64_t first = 0);
    /// The same with a separate arena.
    byte_ring_to_gpu(device const& gpu, std::size_t message_bytes, std::size_t slots);
    /// A shared ring, of another process or of this one. Pushing continues behind the last message
    /// that is there.
    explicit byte_ring_to_gpu(opened_signal const& shared);
    byte_ring_to_gpu(byte_ring_to_gpu const&) = delete;
    byte_ring_to_gpu& operator=(byte_ring_to_gpu const&) = delete;
    ~byte_ring_to_gpu();

    /// As ring_to_gpu::share().
    [[nodiscard]] int share();
    /// As ring_to_gpu::open_shared(), with messages of any size.
    [[nodiscard]] static byte_ring_to_gpu open_shared(int descriptor) {
        return byte_ring_to_gpu(opened_signal::open(descriptor, signal_kind::ring_to_gpu));
    }

    /// The argument for kernels, passed by value as the gpu::ring_to_gpu of a type of that size.
    [[nodiscard]] gpu::ring_handle handle() const noexcept;
    /// The same for a thread of this process that acts as a kernel, as in tests and on the
    /// simulated GPU.
    [[nodiscard]] gpu::ring_handle handle_for_thread() const noexcept;

    /// Writes as many messages as there is room for, in order.
    /// @param messages one after another @pre a multiple of the message size
    /// @return how many were written
    [[nodiscard]] std::size_t push_many(std::span<std::byte const> messages) noexcept {
        assert(messages.size() % message_bytes_ == 0);
        return push(message_bytes_, messages.data(), messages.size() / message_bytes_);
    }

    /// Makes all messages arrive without waiting for more.
    void flush() noexcept { slots_.let_go(); }

    /// Polls for room for a message, without giving up the CPU.
    /// @return whether there is any; also false if the consumer has closed the ring and there is
    ///         none
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds at_most) noexcept {
        return look_until([&] { return room_for(1) != 0 || closed(); }, at_most) &&
            room_for(1) != 0;
    }

    /// How many messages were pushed for which the consumer has not yet returned a credit.
    [[nodiscard]] std::size_t depth() const noexcept {
        return static_cast<std::size_t>(next_ - gpu::load_acquire(credit(words::read)));
    }
    [[nodiscard]] std::size_t slots() const noexcept { return mask_ + 1; }
    [[nodiscard]] std::size_t message_bytes() const noexcept { return message_bytes_; }
    /// How many messages have been pushed, counted from the first number.
    [[nodiscard]] std::uint64_t number() const noexcept { return next_; }

    /// Whether the consumer has closed the ring.
    [[nodiscard]] bool closed() const noexcept {
        return gpu::load_acquire(credit(words::closed_by_consumer)) != 0;
    }

    /// Declares that no message will follow, and flushes. The consumer still reads the messages
    /// before.
    void close() noexcept { control_.publish(words::closed_by_producer, 1); }

protected:
    /// push_many(), with a size that may be known at compile time.
    template <class Size>
    std::size_t push(Size bytes, std::byte const* messages, std::size_t wanted) noexcept {
        std::size_t const count = std::min<std::size_t>(room_for(wanted), wanted);
        for (std::size_t i = 0; i < count; ++i)
            slots_.write_message(place(next_ + i), next_ + i + 1, messages + i * bytes, bytes);
        if (slots_.commits_apart() && count != 0) {
            flush_stores();
            for (std::size_t i = 0; i < count; ++i)
                slots_.commit_message(place(next_ + i), next_ + i + 1, bytes);
        }
        next_ += count;
        return count;
    }

private:
    using words = gpu::ring_words;

    void begin(std::uint64_t first) noexcept;
    void go_on() noexcept;

    [[nodiscard]] gpu::word* credit(unsigned index) const noexcept {
        return reinterpret_cast<gpu::word*>(credits_.data()) + index;
    }
    /// How many messages fit now; asks the GPU's side only if fewer than wanted are known to fit.
    [[nodiscard]] std::size_t room_for(std::size_t wanted) noexcept {
        std::uint64_t room = mask_ + 1 - (next_ - read_);
        if (room < wanted) {
            read_ = gpu::load_acquire(credit(words::read));
            room = mask_ + 1 - (next_ - read_);
        }
        return static_cast<std::size_t>(room);
    }

    [[nodiscard]] std::size_t place(std::uint64_t number) const noexcept {
        return static_cast<std::size_t>(number & mask_);
    }

    std::size_t message_bytes_;
    slots_to_gpu slots_;
    arena::part credits_;
    words_to_gpu control_;
    std::uint64_t mask_, next_, read_; ///< read_: as last seen
};

/// As ring_to_cpu, with a message size that is given at run time. The same thread rules apply.
class BARMAP_API byte_ring_to_cpu {
public:
    /// As the constructors of byte_ring_to_gpu.
    byte_ring_to_cpu(arena const& memory, std::size_t message_bytes, std::size_t slots,
                     std::uint64_t first = 0);
    byte_ring_to_cpu(device const& gpu, std::size_t message_bytes, std::size_t slots);
    /// Reading continues behind the last message for which a credit was returned.
    explicit byte_ring_to_cpu(opened_signal const& shared);
    byte_ring_to_cpu(byte_ring_to_cpu const&) = delete;
    byte_ring_to_cpu& operator=(byte_ring_to_cpu const&) = delete;
    /// Returns all credits.
    ~byte_ring_to_cpu();

    [[nodiscard]] int share();
    [[nodiscard]] static byte_ring_to_cpu open_shared(int descriptor) {
        return byte_ring_to_cpu(opened_signal::open(descriptor, signal_kind::ring_to_cpu));
    }

    [[nodiscard]] gpu::ring_handle handle() const noexcept;
    [[nodiscard]] gpu::ring_handle handle_for_thread() const noexcept;

    /// Reads as many messages as have arrived and fit, in order.
    /// @param messages one after another @pre a multiple of the message size
    /// @return how many were read
    [[nodiscard]] std::size_t pop_many(std::span<std::byte> messages) noexcept {
        assert(messages.size() % message_bytes_ == 0);
        std::size_t count = 0;
        while (count < messages.size() / message_bytes_ &&
               pop(message_bytes_, messages.data() + count * message_bytes_))
            ++count;
        return count;
    }

    /// Polls for a message, without giving up the CPU.
    /// @return whether there is one; also false if the producers have closed the ring and all was
    ///         read
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds at_most) const noexcept {
        return look_until([&] { return has_message() || closed(); }, at_most) &&
            has_message();
    }

    /// How many messages have arrived and not been read.
    [[nodiscard]] std::size_t depth() const noexcept {
        std::uint64_t count = 0;
        while (count <= mask_ && gpu::load_acquire(commit_of(next_ + count)) == next_ + count + 1)
            ++count;
        return static_cast<std::size_t>(count);
    }
    [[nodiscard]] std::size_t slots() const noexcept { return mask_ + 1; }
    [[nodiscard]] std::size_t message_bytes() const noexcept { return message_bytes_; }
    /// The number of the next message.
    [[nodiscard]] std::uint64_t number() const noexcept { return next_; }

    /// Whether a producer has closed the ring. Messages from before may be left.
    [[nodiscard]] bool closed() const noexcept {
        return gpu::load_acquire(reinterpret_cast<gpu::word const*>(control_.data())) != 0;
    }

    /// Declares that no message will be read any more: producers that find the ring full return
    /// `closed`.
    void close() noexcept { credits_.publish(words::closed_by_consumer, 1); }

protected:
    /// Where the next message lies, with a size that may be known at compile time; null if none has
    /// arrived.
    template <class Size>
    [[nodiscard]] std::byte const* front(Size bytes) const noexcept {
        std::byte const* const slot = slots_.data() +
            static_cast<std::size_t>(next_ & mask_) * slot_to_cpu_bytes(bytes);
        bool const has_arrived =
            gpu::load_acquire(commit_in(slot, slot_to_cpu_bytes(bytes))) == next_ + 1;
        return has_arrived ? slot : nullptr;
    }
    /// Frees the slot of front().
    void pop_front() noexcept {
        ++next_;
        if (next_ - returned_ >= gpu::detail::quarter_of(mask_))
            give_credit();
    }
    /// Reads the next message. @return whether there is one
    template <class Size>
    bool pop(Size bytes, std::byte* message) noexcept {
        std::byte const* const slot = front(bytes);
        if (!slot)
            return false;
        std::memcpy(message, slot, bytes);
        pop_front();
        return true;
    }

private:
    using words = gpu::ring_words;

    void begin(std::uint64_t first) noexcept;

    static gpu::word const* commit_in(std::byte const* slot, std::size_t slot_bytes) noexcept {
        return reinterpret_cast<gpu::word const*>(slot + slot_bytes) - 1;
    }
    [[nodiscard]] gpu::word const* commit_of(std::uint64_t number) const noexcept {
        return commit_in(slots_.data() + static_cast<std::size_t>(number & mask_) * slot_bytes_,
                         slot_bytes_);
    }
    [[nodiscard]] bool has_message() const noexcept {
        return gpu::load_acquire(commit_of(next_)) == next_ + 1;
    }
    void give_credit() noexcept {
        order_loads_before_stores(); // the loads of the messages
        credits_.store(words::read, next_);
        credits_.flush(); // at once: a producer may wait for it
        returned_ = next_;
    }

    std::size_t message_bytes_, slot_bytes_;
    arena::part slots_, control_;
    words_to_gpu credits_;
    std::uint64_t mask_, next_, returned_;
};

} // namespace detail
} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
