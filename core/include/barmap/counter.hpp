// SPDX-License-Identifier: MIT
/// Counters between a CPU, running GPU code and CUDA streams: the CPU's side, with the rules of
/// <barmap/counter.h>. The GPU's side is <barmap/gpu/counter.cuh>. Counters cannot be moved, since
/// threads refer to them.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/gpu/counter.cuh>
#include <barmap/shared_signal.hpp>
#include <barmap/signal_words.hpp>

#include <chrono>
#include <cstdint>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// A 64-bit number that a CPU thread advances, and GPU code and streams wait for.
///
///     barmap::counter_to_gpu inputs(words);
///     inputs.wait(stream, 17);       // later work of the stream starts when it is 17
///     barmap::write(map.window(), values);
///     inputs.advance(17);
///
/// Thread rule: one thread at a time calls advance() and value(); other threads may call the other
/// members meanwhile.
class counter_to_gpu {
public:
    /// Makes a counter that begins with a number; in an arena that was opened, with that set last.
    /// Contract and errors: barmap_counter_to_gpu_create().
    explicit counter_to_gpu(arena const& memory, std::uint64_t first = 0)
        : word_(memory, 1), value_(first) {
        if (memory.opened())
            value_ = gpu::load_acquire(word_.word(0));
        else
            word_.publish(0, first);
    }
    counter_to_gpu(counter_to_gpu const&) = delete;
    counter_to_gpu& operator=(counter_to_gpu const&) = delete;

    /// Makes a descriptor, which the caller closes, with which another process advances the
    /// counter, instead of this one. Contract and errors: barmap_counter_to_gpu_share().
    [[nodiscard]] int share() const {
        return detail::share_signal({BARMAP_COUNTER_TO_GPU, 0, 0, 0}, {&word_.part()});
    }
    /// Opens a counter by its descriptor, in a process that needs no CUDA.
    /// Contract and errors: barmap_counter_to_gpu_open_shared().
    [[nodiscard]] static counter_to_gpu open_shared(int descriptor) {
        return counter_to_gpu(
            detail::opened_signal::open(descriptor, BARMAP_COUNTER_TO_GPU));
    }

    /// The argument for kernels, passed by value.
    [[nodiscard]] gpu::counter_to_gpu handle() const noexcept {
        return {detail::word_at(word_.gpu_address())};
    }
    /// The same for a thread of this process that acts as a kernel, as in tests.
    [[nodiscard]] gpu::counter_to_gpu handle_for_thread() const noexcept {
        return {word_.word(0)};
    }

    /// Sets the number, at once; it must not decrease.
    /// Contract and errors: barmap_counter_to_gpu_advance().
    void advance(std::uint64_t to) noexcept {
        value_ = to;
        word_.publish(0, to);
    }
    /// The number, as set last. Contract and errors: barmap_counter_to_gpu_value().
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

    /// Makes later work of the stream wait until the number is at least this.
    /// Contract and errors: barmap_counter_to_gpu_stream_wait().
    void wait(void* stream, std::uint64_t at_least) const {
        detail::check(barmap_arena_part_stream_wait(word_.part().c_handle(), stream, at_least));
    }

private:
    explicit counter_to_gpu(detail::opened_signal const& shared) : counter_to_gpu(shared.memory) {}

    detail::words_to_gpu word_;
    std::uint64_t value_;
};

/// A 64-bit number that GPU code or a stream advances, and the CPU waits for.
///
///     barmap::counter_to_cpu done(words);
///     kernel<<<blocks, threads, 0, stream>>>(...);
///     done.record(stream, 17);
///     if (!done.wait_for(17, std::chrono::milliseconds(5))) ...
///
/// Thread rule: threads may call any members at once.
class counter_to_cpu {
public:
    /// Makes a counter that begins with a number.
    /// Contract and errors: barmap_counter_to_cpu_create().
    explicit counter_to_cpu(arena const& memory, std::uint64_t first = 0)
        : word_(memory.take_host(sizeof(gpu::word))), arrived_(memory, 1), first_(first) {
        if (!memory.opened())
            gpu::store_release(word(), first);
    }
    counter_to_cpu(counter_to_cpu const&) = delete;
    counter_to_cpu& operator=(counter_to_cpu const&) = delete;

    /// Makes a descriptor, which the caller closes, with which another process waits as well.
    /// Contract and errors: barmap_counter_to_cpu_share().
    [[nodiscard]] int share() const {
        return detail::share_signal({BARMAP_COUNTER_TO_CPU, 0, 0, first_},
                                    {&word_, &arrived_.part()});
    }
    /// Opens a counter by its descriptor, in a process that needs no CUDA.
    /// Contract and errors: barmap_counter_to_cpu_open_shared().
    [[nodiscard]] static counter_to_cpu open_shared(int descriptor) {
        return counter_to_cpu(
            detail::opened_signal::open(descriptor, BARMAP_COUNTER_TO_CPU));
    }

    [[nodiscard]] gpu::counter_to_cpu handle() const noexcept {
        return {detail::word_at(word_.gpu_address()), detail::word_at(arrived_.gpu_address()),
                first_};
    }
    [[nodiscard]] gpu::counter_to_cpu handle_for_thread() const noexcept {
        return {word(), arrived_.word(0), first_};
    }

    /// The number now. Contract and errors: barmap_counter_to_cpu_value().
    [[nodiscard]] std::uint64_t value() const noexcept {
        return gpu::load_acquire(word());
    }
    [[nodiscard]] bool is_at_least(std::uint64_t number) const noexcept {
        return static_cast<std::int64_t>(value() - number) >= 0;
    }
    /// Polls; false if the number was not reached in time.
    /// Contract and errors: barmap_counter_to_cpu_wait().
    [[nodiscard]] bool wait_for(std::uint64_t at_least,
                                std::chrono::nanoseconds at_most) const noexcept {
        return detail::look_until([&] { return is_at_least(at_least); }, at_most);
    }

    /// Makes the stream set the number when all of its earlier work is complete.
    /// Contract and errors: barmap_counter_to_cpu_record().
    void record(void* stream, std::uint64_t value) const {
        detail::check(barmap_arena_part_stream_write(word_.c_handle(), stream, value));
    }

private:
    explicit counter_to_cpu(detail::opened_signal const& shared)
        : counter_to_cpu(shared.memory, shared.is.first) {}
    [[nodiscard]] gpu::word* word() const noexcept {
        return reinterpret_cast<gpu::word*>(word_.data());
    }

    arena::part word_;
    detail::words_to_gpu arrived_;
    std::uint64_t first_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
