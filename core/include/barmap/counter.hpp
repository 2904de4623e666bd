// SPDX-License-Identifier: MIT
/// Counters between a CPU, running GPU code and CUDA streams: the CPU's side. Each side polls its
/// own memory.
///
/// The GPU's side is <barmap/gpu/counter.cuh>; the rules are in share/doc/barmap/rings.md. Counters
/// cannot be moved, since threads refer to them. Destroy one when no kernel and no stream uses it
/// any more. After fork() the child may only destroy it.
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
/// Thread rule: one thread at a time advances it; other threads may call the other members
/// meanwhile.
class BARMAP_API counter_to_gpu {
public:
    /// @throws error as arena::take_gpu()
    explicit counter_to_gpu(arena const& memory, std::uint64_t first = 0);
    counter_to_gpu(counter_to_gpu const&) = delete;
    counter_to_gpu& operator=(counter_to_gpu const&) = delete;
    ~counter_to_gpu();

    /// Lets another process advance the counter, instead of this one. This object continues to hold
    /// the memory, and wait() continues to work. The descriptor gives access to the whole arena.
    /// @return a descriptor, which the caller closes. @throws error as pin::share()
    [[nodiscard]] int share() const;
    /// Opens a counter by its descriptor, in a process that needs no CUDA. It continues at the
    /// number that was set last.
    /// @param descriptor stays the caller's
    /// @throws error errc::invalid_argument for another descriptor, or as barmap::open_shared()
    [[nodiscard]] static counter_to_gpu open_shared(int descriptor) {
        return counter_to_gpu(
            detail::opened_signal::open(descriptor, detail::signal_kind::counter_to_gpu));
    }

    /// The argument for kernels, passed by value.
    [[nodiscard]] gpu::counter_to_gpu handle() const noexcept;
    /// The same for a thread of this process that acts as a kernel, as in tests.
    [[nodiscard]] gpu::counter_to_gpu handle_for_thread() const noexcept;

    /// Sets the number, at once, after all that this thread has written through mappings of this
    /// GPU and to host memory. The number must not decrease.
    void advance(std::uint64_t to) noexcept {
        value_ = to;
        word_.publish(0, to);
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; } ///< as set last

    /// Makes later work of the stream wait until the number is at least this. If this is captured
    /// into a graph, each replay waits for the same number: call it before each launch instead.
    /// @param stream a CUstream or cudaStream_t; null: the default stream
    /// @throws error errc::unsupported_operation if the driver lacks such waits, or if another
    ///         process made the counter; or what CUDA reports
    void wait(void* stream, std::uint64_t at_least) const;

private:
    explicit counter_to_gpu(detail::opened_signal const& shared);

    arena memory_;
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
class BARMAP_API counter_to_cpu {
public:
    /// @throws error as arena::take_gpu() and take_host()
    explicit counter_to_cpu(arena const& memory, std::uint64_t first = 0);
    counter_to_cpu(counter_to_cpu const&) = delete;
    counter_to_cpu& operator=(counter_to_cpu const&) = delete;
    ~counter_to_cpu();

    /// Lets another process wait as well. The descriptor gives access to the whole arena.
    /// @return a descriptor, which the caller closes. @throws error as pin::share()
    [[nodiscard]] int share() const;
    /// As counter_to_gpu::open_shared().
    [[nodiscard]] static counter_to_cpu open_shared(int descriptor) {
        return counter_to_cpu(
            detail::opened_signal::open(descriptor, detail::signal_kind::counter_to_cpu));
    }

    [[nodiscard]] gpu::counter_to_cpu handle() const noexcept;
    [[nodiscard]] gpu::counter_to_cpu handle_for_thread() const noexcept;

    /// The number now. This thread then sees what was stored before the number was advanced.
    [[nodiscard]] std::uint64_t value() const noexcept {
        return gpu::load_acquire(reinterpret_cast<gpu::word const*>(word_.data()));
    }
    [[nodiscard]] bool is_at_least(std::uint64_t number) const noexcept {
        return static_cast<std::int64_t>(value() - number) >= 0;
    }
    /// Polls, without giving up the CPU. @return whether the number was reached in time
    [[nodiscard]] bool wait_for(std::uint64_t at_least,
                                std::chrono::nanoseconds at_most) const noexcept {
        return detail::look_until([&] { return is_at_least(at_least); }, at_most);
    }

    /// Makes the stream set the number when all of its earlier work is complete. If this is
    /// captured into a graph, each replay sets the same number: call it after each launch instead.
    /// @param stream a CUstream or cudaStream_t; null: the default stream
    /// @throws error errc::unsupported_operation if the driver lacks such stores, or if another
    ///         process made the counter; or what CUDA reports
    void record(void* stream, std::uint64_t value) const;

private:
    explicit counter_to_cpu(detail::opened_signal const& shared);

    arena memory_;
    arena::part word_;
    detail::words_to_gpu arrived_;
    std::uint64_t first_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
