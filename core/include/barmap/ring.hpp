// SPDX-License-Identifier: MIT
/// Rings between a CPU and running GPU code: the CPU's side, with the rules of <barmap/ring.h>.
/// The GPU's side is <barmap/gpu/ring.cuh>.
#pragma once

#include <barmap/byte_ring.hpp>
#include <barmap/message.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

namespace detail {

template <class Handle>
Handle typed(gpu::ring_handle const& of) noexcept {
    static_assert(sizeof(Handle) == sizeof of && std::is_trivially_copyable_v<Handle>);
    return {of.slots, of.control, of.credits, of.mask};
}

} // namespace detail

/// Messages of a CPU thread to running GPU code.
///
///     barmap::ring_to_gpu<command> commands(gpu, 1024);
///     serve<<<1, 32>>>(commands.handle());
///     if (commands.try_push({17, 0.5F}))
///         commands.flush();
///
/// Not movable, since threads refer to it. After fork() the child may only destroy it. Destroy it
/// when no kernel uses it any more.
/// Thread rule: one thread at a time pushes, and one consumer of one kernel at a time reads.
/// @tparam Message trivially copyable, of any size up to 1 MiB; 56 bytes fill a line
template <ring_message Message>
class ring_to_gpu : private detail::byte_ring_to_gpu {
    using core = detail::byte_ring_to_gpu;

public:
    /// Makes a ring for messages of the type's size, in an arena or in separate memory.
    /// Contract and errors: barmap_ring_to_gpu_create().
    ring_to_gpu(arena const& memory, std::size_t slots) : ring_to_gpu(memory, slots, 0) {}
    ring_to_gpu(device const& gpu, std::size_t slots)
        : core(gpu, sizeof(Message), slots) {}

    /// Makes a descriptor, which the caller closes, with which another process pushes, instead of
    /// this one.
    ///
    ///     int const descriptor = commands.share();          // send it by SCM_RIGHTS, or fork
    ///     // in the other process
    ///     auto commands = barmap::ring_to_gpu<command>::open_shared(descriptor);
    ///
    /// Contract and errors: barmap_ring_to_gpu_share().
    using core::share;

    /// Opens a ring by its descriptor, in a process that needs no CUDA: handle() has no addresses
    /// there. Contract and errors: barmap_ring_to_gpu_open_shared().
    [[nodiscard]] static ring_to_gpu open_shared(int descriptor) {
        return ring_to_gpu(
            detail::opened_signal::open_ring(descriptor, BARMAP_RING_TO_GPU,
                                             sizeof(Message)));
    }

    /// The argument for kernels, passed by value.
    [[nodiscard]] gpu::ring_to_gpu<Message> handle() const noexcept {
        return detail::typed<gpu::ring_to_gpu<Message>>(core::handle());
    }
    /// The same for a thread of this process that acts as a kernel, as in tests and on the
    /// simulated GPU.
    [[nodiscard]] gpu::ring_to_gpu<Message> handle_for_thread() const noexcept {
        return detail::typed<gpu::ring_to_gpu<Message>>(core::handle_for_thread());
    }

    /// Writes a message; false if the ring is full. Contract and errors: barmap_ring_to_gpu_push().
    [[nodiscard]] bool try_push(Message const& message) noexcept {
        return push(size, reinterpret_cast<std::byte const*>(&message), 1) == 1;
    }

    /// Writes as many messages as there is room for, in order, and returns how many.
    /// Contract and errors: barmap_ring_to_gpu_push().
    [[nodiscard]] std::size_t push_many(std::span<Message const> messages) noexcept {
        return push(size, reinterpret_cast<std::byte const*>(messages.data()), messages.size());
    }

    using core::close;
    using core::closed;
    using core::depth;
    using core::flush;
    using core::number;
    using core::slots;
    using core::wait_for;

private:
    friend detail::first_number;
    ring_to_gpu(arena const& memory, std::size_t slots, std::uint64_t first)
        : core(memory, sizeof(Message), slots, first) {}
    explicit ring_to_gpu(detail::opened_signal const& shared) : core(shared) {}

    static constexpr detail::fixed_size<sizeof(Message)> size{};
    static_assert(gpu::slot_to_gpu<Message>::lines == detail::slots_to_gpu::lines_of(sizeof(Message)));
};

/// Messages of running GPU code to a CPU thread.
///
///     barmap::ring_to_cpu<answer> answers(gpu, 1024);
///     serve<<<1, 32>>>(answers.handle());
///     if (answers.wait_for(std::chrono::milliseconds(5)))
///         use(*answers.try_pop());
///
/// Thread rule: one thread at a time pops; one gpu::producer pushes, or any number of GPU threads
/// call gpu::push(). The rest is as with ring_to_gpu.
template <ring_message Message>
class ring_to_cpu : private detail::byte_ring_to_cpu {
    using core = detail::byte_ring_to_cpu;
    /// Converts to the message in place: another copy would cost as much as the rest of a pop.
    struct taken {
        ring_to_cpu& ring;
        std::byte const* slot;
        operator Message() const noexcept {
            Message message;
            std::memcpy(&message, slot, sizeof message);
            ring.pop_front();
            return message;
        }
    };

public:
    /// Makes a ring for messages of the type's size, in an arena or in separate memory.
    /// Contract and errors: barmap_ring_to_cpu_create().
    ring_to_cpu(arena const& memory, std::size_t slots) : ring_to_cpu(memory, slots, 0) {}
    ring_to_cpu(device const& gpu, std::size_t slots)
        : core(gpu, sizeof(Message), slots) {}

    /// Makes a descriptor, which the caller closes, with which another process pops, instead of
    /// this one. Contract and errors: barmap_ring_to_cpu_share().
    using core::share;

    /// Opens a ring by its descriptor, in a process that needs no CUDA: handle() has no addresses
    /// there. Contract and errors: barmap_ring_to_cpu_open_shared().
    [[nodiscard]] static ring_to_cpu open_shared(int descriptor) {
        return ring_to_cpu(
            detail::opened_signal::open_ring(descriptor, BARMAP_RING_TO_CPU,
                                             sizeof(Message)));
    }

    /// The argument for kernels, passed by value.
    [[nodiscard]] gpu::ring_to_cpu<Message> handle() const noexcept {
        return detail::typed<gpu::ring_to_cpu<Message>>(core::handle());
    }
    /// As ring_to_gpu::handle_for_thread().
    [[nodiscard]] gpu::ring_to_cpu<Message> handle_for_thread() const noexcept {
        return detail::typed<gpu::ring_to_cpu<Message>>(core::handle_for_thread());
    }

    /// Reads the next message; nothing if none has arrived.
    /// Contract and errors: barmap_ring_to_cpu_pop().
    [[nodiscard]] std::optional<Message> try_pop() noexcept {
        std::byte const* const slot = this->front(size);
        if (!slot)
            return std::nullopt;
        return std::optional<Message>(std::in_place, taken{*this, slot});
    }

    /// Reads as many messages as have arrived and fit, in order, and returns how many.
    /// Contract and errors: barmap_ring_to_cpu_pop().
    [[nodiscard]] std::size_t pop_many(std::span<Message> messages) noexcept {
        std::size_t count = 0;
        while (count < messages.size() &&
               this->pop(size, reinterpret_cast<std::byte*>(&messages[count])))
            ++count;
        return count;
    }

    using core::close;
    using core::closed;
    using core::depth;
    using core::number;
    using core::slots;
    using core::wait_for;

private:
    friend detail::first_number;
    ring_to_cpu(arena const& memory, std::size_t slots, std::uint64_t first)
        : core(memory, sizeof(Message), slots, first) {}
    explicit ring_to_cpu(detail::opened_signal const& shared) : core(shared) {}

    static constexpr detail::fixed_size<sizeof(Message)> size{};
    static_assert(gpu::slot_to_cpu<Message>::bytes == detail::slot_to_cpu_bytes(sizeof(Message)));
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
