// SPDX-License-Identifier: MIT
/// Calls of the CPU by running GPU code: the CPU's side. The GPU's is <barmap/gpu/rpc.cuh>, and the
/// rules are in share/doc/barmap/rings.md.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/byte_ring.hpp>
#include <barmap/gpu/rpc.cuh>
#include <barmap/message.hpp>
#include <barmap/signal_words.hpp>
#include <barmap/slots.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// Calls of GPU threads, which a CPU thread serves.
///
///     barmap::rpc_to_cpu<question, answer> calls(gpu, 256);
///     work<<<16, 128>>>(calls.handle());
///     while (!finished)
///         calls.try_serve([&](question const& asked) { return look_up(asked); });
///
/// One thread at a time serves; any number of GPU threads call. After fork() the child may only
/// destroy it. Not movable. Destroy it when no kernel uses it any more.
template <ring_message Request, ring_message Reply>
class rpc_to_cpu {
public:
    /// @param slots how many calls may be in flight at once, a power of two
    /// @throws error errc::invalid_argument; errc::out_of_range if the arena has no room; without
    ///         an arena, as arena::arena()
    rpc_to_cpu(arena const& memory, std::size_t slots) : rpc_to_cpu(memory, slots, 0) {}
    rpc_to_cpu(device const& gpu, std::size_t slots)
        : rpc_to_cpu(arena(gpu, gpu_bytes(slots), slots * slot::bytes), slots) {}
    rpc_to_cpu(rpc_to_cpu const&) = delete;
    rpc_to_cpu& operator=(rpc_to_cpu const&) = delete;

    /// The argument for kernels, passed by value.
    [[nodiscard]] gpu::rpc_to_cpu<Request, Reply> handle() const noexcept {
        return {reinterpret_cast<gpu::word*>(requests_.gpu_address()), replies_.on_gpu(),
                reinterpret_cast<gpu::word*>(owners_.gpu_address()),
                reinterpret_cast<gpu::word*>(control_.gpu_address()), mask_};
    }
    /// The same for a thread of this process that acts as a kernel, as in tests.
    [[nodiscard]] gpu::rpc_to_cpu<Request, Reply> handle_for_thread() const noexcept {
        return {request_of(0), replies_.on_cpu(), owners_.word(0), control_.word(0), mask_};
    }

    /// A call that waits for reply().
    struct call {
        std::uint64_t number; ///< names it for reply()
        Request request;
    };
    /// Takes the next call, if there is one. Answer each call once, in any order; it occupies its
    /// slot until then.
    [[nodiscard]] std::optional<call> try_take() noexcept {
        if (!has_call())
            return std::nullopt;
        std::optional<call> taken(std::in_place);
        std::memcpy(&taken->request, request_of(next_), sizeof(Request));
        taken->number = next_++;
        return taken;
    }
    /// Answers a call, at once. The caller sees what this thread wrote before, with write() or to
    /// host memory.
    void reply(std::uint64_t number, Reply const& with) noexcept {
        replies_.flush();
        replies_.write(number & mask_, number + 1, reinterpret_cast<std::byte const*>(&with),
                       detail::fixed_size<sizeof(Reply)>{});
        replies_.let_go();
    }
    /// Takes the next call, if there is one, and answers it with what `serve(request)` returns.
    /// @param if_it_throws answers the call where `serve` throws; the exception then leaves
    ///        try_serve(). Give a value that callers can tell from other answers.
    template <class Serve>
    bool try_serve(Serve&& serve, Reply const& if_it_throws = Reply{}) {
        std::optional<call> const taken = try_take();
        if (!taken)
            return false;
        try {
            reply(taken->number, std::forward<Serve>(serve)(taken->request));
        } catch (...) {
            reply(taken->number, if_it_throws);
            throw;
        }
        return true;
    }

    /// Waits for a call. @return whether there is one
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds at_most) const noexcept {
        return detail::look_until([&] { return has_call(); }, at_most);
    }

    /// Declares that no call will be answered any more: callers that wait for an answer return
    /// `closed`.
    void close() noexcept { control_.publish(gpu::rpc_words::closed_by_cpu, 1); }

private:
    using slot = gpu::slot_to_cpu<Request>;

    friend detail::first_number;
    rpc_to_cpu(arena const& memory, std::size_t slots, std::uint64_t first)
        : requests_(memory.take_host(detail::checked_slots(slots, sizeof(Request)) * slot::bytes)),
          replies_(memory, slots, sizeof(Reply)), owners_(memory, slots),
          control_(memory, gpu::rpc_words::count), mask_(slots - 1), next_(first) {
        std::memset(requests_.data(), 0, requests_.size());
        for (std::uint64_t i = 0; i < slots; ++i) {
            std::uint64_t const number = first + i, before = number - slots;
            gpu::store_release(request_of(number) + slot::words - 1, before + 1);
            replies_.clear(number & mask_, before + 1);
            owners_.store(number & mask_, gpu::detail::owner::free_for(number));
        }
        control_.publish(gpu::rpc_words::next, first);
    }

    static std::size_t gpu_bytes(std::size_t slots) {
        detail::checked_slots(slots, sizeof(Request));
        return slots * (gpu::slot_to_gpu<Reply>::bytes + sizeof(gpu::word)) + 4 * arena::alignment;
    }
    [[nodiscard]] gpu::word* request_of(std::uint64_t number) const noexcept {
        return reinterpret_cast<gpu::word*>(requests_.data()) +
            static_cast<std::size_t>(number & mask_) * slot::words;
    }
    [[nodiscard]] bool has_call() const noexcept {
        return gpu::load_acquire(request_of(next_) + slot::words - 1) == next_ + 1;
    }

    arena::part requests_;
    detail::slots_to_gpu replies_;
    detail::words_to_gpu owners_, control_;
    std::uint64_t mask_, next_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
