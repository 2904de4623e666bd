// SPDX-License-Identifier: MIT
/// Rings between a CPU and running GPU code: the CPU's side. Messages go to a kernel without a
/// driver call, and come from it without a synchronisation.
///
/// Each side polls its own memory, and all that crosses the link is a posted write. The GPU's side is
/// <barmap/gpu/ring.cuh>; the rules are in share/doc/barmap/rings.md.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/copy.hpp>
#include <barmap/gpu/ring.cuh>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace barmap::inline BARMAP_INLINE_NAMESPACE {

/// What a ring may carry.
template <class Message>
concept ring_message = std::is_trivially_copyable_v<Message> && std::is_default_constructible_v<Message>;

namespace detail {

/// @throws error errc::invalid_argument unless it is a power of two
BARMAP_API void expect_slots(std::size_t slots);

/// A word of GPU memory behind a mapping, or of host memory. Ordered as its users say.
inline void write_word(window to, std::size_t index, std::uint64_t value) noexcept {
    post(to.subwindow(index * sizeof value, sizeof value), value);
}

/// How the CPU publishes lines in GPU memory.
enum class publication {
    by_line, ///< message and commit word in one transaction (MOVDIR64B)
    by_words, ///< message, fence, commit word: a write-combining buffer may leave in any order
    coherent  ///< memory as any other: the commit word is stored with release
};

/// The one that suits a mapping.
[[nodiscard]] inline publication publication_for(window to, cache_kind kind) noexcept {
    if (kind == cache_kind::cached)
        return publication::coherent;
    return head(to).direct_lines ? publication::by_line : publication::by_words;
}

/// Lets no later store of this thread to GPU memory pass an earlier load of it.
inline void order_loads_before_stores() noexcept {
#if defined(__x86_64__)
    std::atomic_signal_fence(std::memory_order_seq_cst); // the processor keeps that order
#else
    order_loads();
#endif
}

/// Looks until it finds something, or the time is over.
template <class Look>
bool look_until(Look const& look, std::chrono::nanoseconds at_most) noexcept {
    using clock = std::chrono::steady_clock;
    // A time that no clock reaches is as good as none.
    constexpr std::chrono::nanoseconds longest = std::chrono::hours(24 * 365);
    constexpr int looks_per_time = 64;
    clock::time_point const until = clock::now() + std::min(at_most, longest);
    for (;;) {
        for (int i = 0; i < looks_per_time; ++i) {
            if (look())
                return true;
            pause();
        }
        if (clock::now() >= until)
            return look();
    }
}

} // namespace detail

/// Messages of a CPU thread to running GPU code.
///
///     barmap::ring_to_gpu<command> commands(gpu, 1024);
///     serve<<<1, 32>>>(commands.handle());
///     if (commands.try_push({17, 0.5F}))
///         commands.flush();
///
/// One thread at a time pushes, and one consumer of one kernel at a time reads. After fork() the
/// child may only destroy it. Not movable: threads refer to it. Destroy it when no kernel uses it
/// any more.
/// @tparam Message trivially copyable, of any size; 56 bytes fill a line
template <ring_message Message>
class ring_to_gpu {
public:
    /// @param slots how many messages it holds, a power of two
    /// @param first number of the first message; for tests of what happens when numbers wrap
    /// @throws error errc::invalid_argument; errc::out_of_range if the arena has no room; or as
    ///         the arena of its own
    ring_to_gpu(arena const& memory, std::size_t slots, std::uint64_t first = 0)
        : slots_((detail::expect_slots(slots), memory.take_gpu(slots * slot::bytes))),
          control_(memory.take_gpu(words::bytes)), credits_(memory.take_host(words::bytes)),
          window_(slots_.window()), mask_(slots - 1), next_(first), read_(first),
          how_(detail::publication_for(window_, memory.kind())) {
        fill(window_, std::byte{0});
        for (std::uint64_t i = 0; i < slots; ++i) // as a lap before
            for (unsigned line = 0; line < slot::lines; ++line)
                commit(first + i, line, first + i + 1 - slots);
        fill(control_.window(), std::byte{0});
        detail::write_word(control_.window(), words::cursor, first);
        flush_stores();
        std::memset(credits_.data(), 0, credits_.size());
        gpu::store_release(credit(words::read), first);
    }
    ring_to_gpu(device const& gpu, std::size_t slots)
        : ring_to_gpu(own_arena(gpu, slots), slots) {}
    ring_to_gpu(ring_to_gpu const&) = delete;
    ring_to_gpu& operator=(ring_to_gpu const&) = delete;

    /// What kernels take, by value.
    [[nodiscard]] gpu::ring_to_gpu<Message> handle() const noexcept {
        return handle_at(slots_.gpu_address(), control_.gpu_address(), credits_.gpu_address());
    }
    /// The same for a thread of this process that stands for a kernel, as in tests and on the
    /// simulated GPU.
    [[nodiscard]] gpu::ring_to_gpu<Message> handle_for_thread() const noexcept {
        return handle_at(reinterpret_cast<std::uintptr_t>(slots_.data()),
                         reinterpret_cast<std::uintptr_t>(control_.data()),
                         reinterpret_cast<std::uintptr_t>(credits_.data()));
    }

    /// Writes a message unless the ring is full. It arrives at the latest with flush().
    /// @return whether there was room
    [[nodiscard]] bool try_push(Message const& message) noexcept {
        return push_many(std::span<Message const, 1>(&message, 1)) == 1;
    }

    /// Writes as many messages as there is room for, in order.
    /// @return how many
    [[nodiscard]] std::size_t push_many(std::span<Message const> messages) noexcept {
        std::size_t const count = std::min<std::size_t>(room_for(messages.size()), messages.size());
        if (how_ == detail::publication::by_words) {
            for (std::size_t i = 0; i < count; ++i)
                write_words(next_ + i, messages[i]);
            if (count != 0)
                flush_stores();
            for (std::size_t i = 0; i < count; ++i)
                for (unsigned line = 0; line < slot::lines; ++line)
                    commit(next_ + i, line, next_ + i + 1);
        } else {
            for (std::size_t i = 0; i < count; ++i)
                write_lines(next_ + i, messages[i]);
        }
        next_ += count;
        return count;
    }

    /// Makes all messages arrive without waiting for more.
    void flush() noexcept {
        if (how_ != detail::publication::coherent)
            flush_stores();
    }

    /// Waits for room for a message.
    /// @return whether there is any; false too where the consumer has closed the ring
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds at_most) noexcept {
        return detail::look_until([&] { return room_for(1) != 0 || closed(); }, at_most) &&
            room_for(1) != 0;
    }

    /// How many messages have been pushed, and not yet been given credit for.
    [[nodiscard]] std::size_t depth() const noexcept {
        return static_cast<std::size_t>(next_ - gpu::load_acquire(credit(words::read)));
    }
    [[nodiscard]] std::size_t slots() const noexcept { return mask_ + 1; }

    /// Whether the consumer has closed the ring.
    [[nodiscard]] bool closed() const noexcept {
        return gpu::load_acquire(credit(words::closed_by_consumer)) != 0;
    }

    /// Says that no message will follow, and flushes. The consumer reads those before.
    void close() noexcept {
        if (how_ == detail::publication::coherent) {
            gpu::store_release(reinterpret_cast<gpu::word*>(control_.data()), 1);
            return;
        }
        flush_stores();
        detail::write_word(control_.window(), words::closed_by_producer, 1);
        flush_stores();
    }

private:
    using slot = gpu::slot_to_gpu<Message>;
    using words = gpu::ring_words;

    static arena own_arena(device const& gpu, std::size_t slots) {
        detail::expect_slots(slots);
        return {gpu, slots * slot::bytes + 2 * arena::alignment, arena::alignment};
    }
    [[nodiscard]] gpu::ring_to_gpu<Message> handle_at(std::uintptr_t slots, std::uintptr_t control,
                                                      std::uintptr_t credits) const noexcept {
        return {reinterpret_cast<gpu::word*>(slots), reinterpret_cast<gpu::word*>(control),
                reinterpret_cast<gpu::word*>(credits), mask_};
    }
    [[nodiscard]] gpu::word* credit(unsigned index) const noexcept {
        return reinterpret_cast<gpu::word*>(credits_.data()) + index;
    }
    /// How much room there is, of what is wanted.
    [[nodiscard]] std::size_t room_for(std::size_t wanted) noexcept {
        std::uint64_t room = mask_ + 1 - (next_ - read_);
        if (room < wanted) {
            read_ = gpu::load_acquire(credit(words::read));
            room = mask_ + 1 - (next_ - read_);
        }
        return static_cast<std::size_t>(room);
    }

    [[nodiscard]] std::size_t place(std::uint64_t number, unsigned line) const noexcept {
        return static_cast<std::size_t>(number & mask_) * slot::bytes + line * slot::line_bytes;
    }
    /// Bytes of the message in a line.
    static constexpr std::size_t part_of(unsigned line) noexcept {
        constexpr std::size_t most = slot::payload_words * sizeof(gpu::word);
        return std::min(most, sizeof(Message) - line * most);
    }
    static std::byte const* part(Message const& message, unsigned line) noexcept {
        return reinterpret_cast<std::byte const*>(&message) +
            line * slot::payload_words * sizeof(gpu::word);
    }
    void commit(std::uint64_t number, unsigned line, std::uint64_t value) noexcept {
        std::size_t const at = place(number, line) + slot::payload_words * sizeof(gpu::word);
        if (how_ == detail::publication::coherent)
            gpu::store_release(reinterpret_cast<gpu::word*>(window_.data + at), value);
        else
            post(window_.subwindow(at, sizeof value), value);
    }
    void write_lines(std::uint64_t number, Message const& message) noexcept {
        for (unsigned line = 0; line < slot::lines; ++line) {
            if (how_ == detail::publication::coherent) {
                std::memcpy(window_.data + place(number, line), part(message, line), part_of(line));
                commit(number, line, number + 1);
                continue;
            }
            alignas(slot::line_bytes) std::byte bytes[slot::line_bytes];
            std::memcpy(bytes, part(message, line), part_of(line));
            std::uint64_t const value = number + 1;
            std::memcpy(bytes + slot::line_bytes - sizeof value, &value, sizeof value);
            post_line(window_.subwindow(place(number, line), slot::line_bytes),
                      std::span<std::byte const, slot::line_bytes>(bytes));
        }
    }
    void write_words(std::uint64_t number, Message const& message) noexcept {
        for (unsigned line = 0; line < slot::lines; ++line)
            for (std::size_t at = 0; at < part_of(line); at += sizeof(gpu::word)) {
                std::uint64_t value = 0;
                std::memcpy(&value, part(message, line) + at,
                            std::min(sizeof value, part_of(line) - at));
                post(window_.subwindow(place(number, line) + at, sizeof value), value);
            }
    }

    arena::part slots_, control_, credits_;
    window window_; ///< of the slots
    std::uint64_t mask_, next_, read_; ///< the latter as last seen
    detail::publication how_;
};

/// Messages of running GPU code to a CPU thread.
///
///     barmap::ring_to_cpu<answer> answers(gpu, 1024);
///     serve<<<1, 32>>>(answers.handle());
///     answer next;
///     if (answers.wait_for(std::chrono::milliseconds(5)) && answers.try_pop(next))
///         use(next);
///
/// One thread at a time pops. Producers are one gpu::producer, or any number of threads that call
/// gpu::push(). The rest is as with ring_to_gpu.
template <ring_message Message>
class ring_to_cpu {
public:
    /// As that of ring_to_gpu.
    ring_to_cpu(arena const& memory, std::size_t slots, std::uint64_t first = 0)
        : slots_((detail::expect_slots(slots), memory.take_host(slots * slot::bytes))),
          control_(memory.take_host(words::bytes)), credits_(memory.take_gpu(words::bytes)),
          mask_(slots - 1), next_(first), returned_(first),
          is_coherent_(memory.kind() == cache_kind::cached) {
        std::memset(slots_.data(), 0, slots_.size());
        for (std::uint64_t i = 0; i < slots; ++i) // as a lap before
            gpu::store_release(commit_of(first + i), first + i + 1 - slots);
        std::memset(control_.data(), 0, control_.size());
        fill(credits_.window(), std::byte{0});
        detail::write_word(credits_.window(), words::read, first);
        detail::write_word(credits_.window(), words::next, first);
        flush_stores();
    }
    ring_to_cpu(device const& gpu, std::size_t slots)
        : ring_to_cpu(own_arena(gpu, slots), slots) {}
    ring_to_cpu(ring_to_cpu const&) = delete;
    ring_to_cpu& operator=(ring_to_cpu const&) = delete;

    /// What kernels take, by value.
    [[nodiscard]] gpu::ring_to_cpu<Message> handle() const noexcept {
        return handle_at(slots_.gpu_address(), control_.gpu_address(), credits_.gpu_address());
    }
    /// As that of ring_to_gpu.
    [[nodiscard]] gpu::ring_to_cpu<Message> handle_for_thread() const noexcept {
        return handle_at(reinterpret_cast<std::uintptr_t>(slots_.data()),
                         reinterpret_cast<std::uintptr_t>(control_.data()),
                         reinterpret_cast<std::uintptr_t>(credits_.data()));
    }

    /// Reads the next message, if it has arrived.
    [[nodiscard]] bool try_pop(Message& message) noexcept {
        if (!has_message())
            return false;
        std::memcpy(&message, slot_at(next_), sizeof message);
        ++next_;
        if (next_ - returned_ >= gpu::detail::quarter_of(mask_))
            give_credit();
        return true;
    }

    /// Reads as many messages as have arrived and are asked for, in order.
    /// @return how many
    [[nodiscard]] std::size_t pop_many(std::span<Message> messages) noexcept {
        std::size_t count = 0;
        while (count < messages.size() && try_pop(messages[count]))
            ++count;
        return count;
    }

    /// Waits for a message.
    /// @return whether there is one; false too where the producers have closed the ring
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds at_most) const noexcept {
        return detail::look_until([&] { return has_message() || closed(); }, at_most) &&
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

    /// Whether a producer has closed the ring. Messages may be left that came before.
    [[nodiscard]] bool closed() const noexcept {
        return gpu::load_acquire(reinterpret_cast<gpu::word const*>(control_.data())) != 0;
    }

    /// Says that no message will be read any more: producers that find the ring full are told so.
    void close() noexcept { write_credit(words::closed_by_consumer, 1); }

private:
    using slot = gpu::slot_to_cpu<Message>;
    using words = gpu::ring_words;

    static arena own_arena(device const& gpu, std::size_t slots) {
        detail::expect_slots(slots);
        return {gpu, arena::alignment, slots * slot::bytes + 2 * arena::alignment};
    }
    [[nodiscard]] gpu::ring_to_cpu<Message> handle_at(std::uintptr_t slots, std::uintptr_t control,
                                                      std::uintptr_t credits) const noexcept {
        return {reinterpret_cast<gpu::word*>(slots), reinterpret_cast<gpu::word*>(control),
                reinterpret_cast<gpu::word*>(credits), mask_};
    }
    [[nodiscard]] std::byte* slot_at(std::uint64_t number) const noexcept {
        return slots_.data() + static_cast<std::size_t>(number & mask_) * slot::bytes;
    }
    [[nodiscard]] gpu::word* commit_of(std::uint64_t number) const noexcept {
        return reinterpret_cast<gpu::word*>(slot_at(number)) + slot::words - 1;
    }
    [[nodiscard]] bool has_message() const noexcept {
        return gpu::load_acquire(commit_of(next_)) == next_ + 1;
    }
    void give_credit() noexcept {
        write_credit(words::read, next_);
        returned_ = next_;
    }
    void write_credit(unsigned index, std::uint64_t value) noexcept {
        if (is_coherent_) {
            gpu::store_release(reinterpret_cast<gpu::word*>(credits_.data()) + index, value);
            return;
        }
        detail::order_loads_before_stores(); // what has been read
        detail::write_word(credits_.window(), index, value);
        flush_stores(); // at once: somebody may wait for it
    }

    arena::part slots_, control_, credits_;
    std::uint64_t mask_, next_, returned_;
    bool is_coherent_;
};

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
