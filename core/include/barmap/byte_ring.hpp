// SPDX-License-Identifier: MIT
/// Rings whose message size is known at run time only. <barmap/ring.hpp>, the C interface and
/// Python build on them.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/copy.hpp>
#include <barmap/error.hpp>
#include <barmap/gpu/ring.cuh>
#include <barmap/shared_signal.hpp>
#include <barmap/signal_words.hpp>
#include <barmap/slots.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {
namespace detail {

/// @return the number of slots
/// @throws error errc::invalid_argument unless slots is a power of two, and messages have 1 byte to
///         1 MiB
inline std::size_t checked_slots(std::size_t slots, std::size_t message_bytes) {
    constexpr std::size_t most_bytes = std::size_t{1} << 20, most_slots = std::size_t{1} << 32;
    char const* advice = nullptr;
    if (!std::has_single_bit(slots) || slots > most_slots)
        advice = "give a power of two, up to 2^32, as the number of slots";
    else if (message_bytes == 0 || message_bytes > most_bytes)
        advice = "give messages of 1 byte to 1 MiB";
    if (advice)
        throw error(errc::invalid_argument,
                    "make a ring of " + std::to_string(slots) + " slots for messages of " +
                        std::to_string(message_bytes) + " bytes",
                    "", advice);
    return slots;
}

/// As ring_to_gpu, with a message size that is given at run time. The same thread rules apply.
class byte_ring_to_gpu {
public:
    /// @param message_bytes size of a message, 1 to 2^20
    /// @param slots how many messages it holds, a power of two
    /// @param first number of the first message
    /// @throws error errc::invalid_argument; errc::out_of_range if the arena has no room; without
    ///         an arena, as arena::arena()
    byte_ring_to_gpu(arena const& memory, std::size_t message_bytes, std::size_t slots,
                     std::uint64_t first = 0)
        : message_bytes_(message_bytes),
          slots_(memory, checked_slots(slots, message_bytes), message_bytes),
          credits_(memory.take_host(words::bytes)), control_(memory, words::bytes / sizeof(gpu::word)),
          mask_(slots - 1), next_(first), read_(first) {
        if (memory.opened())
            go_on();
        else
            begin(first);
    }
    /// The same with a separate arena.
    byte_ring_to_gpu(device const& gpu, std::size_t message_bytes, std::size_t slots)
        : byte_ring_to_gpu(
              arena(gpu,
                    checked_slots(slots, message_bytes) * slots_to_gpu::lines_of(message_bytes) *
                            slots_to_gpu::line_bytes +
                        2 * arena::alignment,
                    arena::alignment),
              message_bytes, slots) {}
    /// A shared ring, of another process or of this one. Pushing continues behind the last message
    /// that is there.
    explicit byte_ring_to_gpu(opened_signal const& shared)
        : byte_ring_to_gpu(shared.memory, shared.is.message_bytes, shared.is.slots) {}
    byte_ring_to_gpu(byte_ring_to_gpu const&) = delete;
    byte_ring_to_gpu& operator=(byte_ring_to_gpu const&) = delete;

    /// As ring_to_gpu::share().
    [[nodiscard]] int share() {
        flush();
        return share_signal({BARMAP_RING_TO_GPU, message_bytes_, slots(), 0},
                            {&slots_.part(), &credits_, &control_.part()});
    }
    /// As ring_to_gpu::open_shared(), with messages of any size.
    [[nodiscard]] static byte_ring_to_gpu open_shared(int descriptor) {
        return byte_ring_to_gpu(opened_signal::open(descriptor, BARMAP_RING_TO_GPU));
    }

    /// The argument for kernels, passed by value as the gpu::ring_to_gpu of a type of that size.
    [[nodiscard]] gpu::ring_handle handle() const noexcept {
        return {slots_.on_gpu(), word_at(control_.gpu_address()), word_at(credits_.gpu_address()),
                mask_};
    }
    /// The same for a thread of this process that acts as a kernel, as in tests and on the
    /// simulated GPU.
    [[nodiscard]] gpu::ring_handle handle_for_thread() const noexcept {
        return {slots_.on_cpu(), control_.word(0), credit(0), mask_};
    }

    /// Writes as many messages as there is room for, in order.
    /// @param messages one after another @pre a multiple of the message size
    /// @return how many were written
    [[nodiscard]] std::size_t push_many(std::span<std::byte const> messages) noexcept {
        assert(messages.size() % message_bytes_ == 0);
        return push(message_bytes_, messages.data(), messages.size() / message_bytes_);
    }

    /// Makes all messages arrive without waiting for more.
    void flush() noexcept { slots_.let_go(); }

    /// Polls for room for a message, without giving up the CPU. Call flush() first: messages that
    /// are still in the CPU make no room.
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

    void begin(std::uint64_t first) noexcept {
        for (std::uint64_t i = 0; i < slots(); ++i) // as a lap before
            slots_.clear(place(first + i), first + i + 1 - slots());
        control_.publish(words::cursor, first);
        std::memset(credits_.data(), 0, credits_.size());
        gpu::store_release(credit(words::read), first);
    }
    void go_on() noexcept {
        read_ = gpu::load_acquire(credit(words::read));
        // Behind what was read come messages that are whole, as their process wrote them in order.
        std::uint64_t whole = 0, most = slots();
        while (whole < most) {
            std::uint64_t const middle = whole + (most - whole) / 2, number = read_ + middle;
            if (slots_.is_whole(place(number), number + 1))
                whole = middle + 1;
            else
                most = middle;
        }
        next_ = read_ + whole;
        if (whole < slots() && slots_.count_commits(place(next_), next_ + 1) != 0 &&
            slots_.mend(place(next_), next_ + 1, next_ + 1 - slots()))
            ++next_;
    }

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
class byte_ring_to_cpu {
public:
    /// As the constructors of byte_ring_to_gpu.
    byte_ring_to_cpu(arena const& memory, std::size_t message_bytes, std::size_t slots,
                     std::uint64_t first = 0)
        : message_bytes_(message_bytes), slot_bytes_(slot_to_cpu_bytes(message_bytes)),
          slots_(memory.take_host(checked_slots(slots, message_bytes) * slot_bytes_)),
          control_(memory.take_host(words::bytes)),
          credits_(memory, words::bytes / sizeof(gpu::word)), mask_(slots - 1), next_(first),
          returned_(first) {
        if (memory.opened())
            next_ = returned_ = gpu::load_acquire(credits_.word(words::read));
        else
            begin(first);
    }
    byte_ring_to_cpu(device const& gpu, std::size_t message_bytes, std::size_t slots)
        : byte_ring_to_cpu(
              arena(gpu, arena::alignment,
                    checked_slots(slots, message_bytes) * slot_to_cpu_bytes(message_bytes) +
                        2 * arena::alignment),
              message_bytes, slots) {}
    /// Reading continues behind the last message for which a credit was returned.
    explicit byte_ring_to_cpu(opened_signal const& shared)
        : byte_ring_to_cpu(shared.memory, shared.is.message_bytes, shared.is.slots) {}
    byte_ring_to_cpu(byte_ring_to_cpu const&) = delete;
    byte_ring_to_cpu& operator=(byte_ring_to_cpu const&) = delete;
    /// Returns all credits.
    ~byte_ring_to_cpu() {
        // Not while the process is prepared for a checkpoint, where an access would end it.
        if (next_ != returned_ && slots_.is_of_this_process())
            (void)barmap_arena_part_publish(credits_.part().c_handle(), words::read, next_);
    }

    [[nodiscard]] int share() {
        int const descriptor = share_signal({BARMAP_RING_TO_CPU, message_bytes_, slots(), 0},
                                            {&slots_, &control_, &credits_.part()});
        if (next_ != returned_) // what is refused touches nothing
            give_credit();
        return descriptor;
    }
    [[nodiscard]] static byte_ring_to_cpu open_shared(int descriptor) {
        return byte_ring_to_cpu(opened_signal::open(descriptor, BARMAP_RING_TO_CPU));
    }

    [[nodiscard]] gpu::ring_handle handle() const noexcept {
        return {word_at(slots_.gpu_address()), word_at(control_.gpu_address()),
                word_at(credits_.gpu_address()), mask_};
    }
    [[nodiscard]] gpu::ring_handle handle_for_thread() const noexcept {
        return {reinterpret_cast<gpu::word*>(slots_.data()),
                reinterpret_cast<gpu::word*>(control_.data()), credits_.word(0), mask_};
    }

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

    void begin(std::uint64_t first) noexcept {
        std::memset(slots_.data(), 0, slots_.size());
        for (std::uint64_t i = 0; i < slots(); ++i) // as a lap before
            gpu::store_release(const_cast<gpu::word*>(commit_of(first + i)),
                               first + i + 1 - slots());
        std::memset(control_.data(), 0, control_.size());
        credits_.store(words::read, first);
        credits_.publish(words::next, first);
    }

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
