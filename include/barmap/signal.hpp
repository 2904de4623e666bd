// SPDX-License-Identifier: MIT
/// Counters and flags between a CPU, running GPU code and CUDA streams: the CPU's side. Each side
/// looks at memory of its own.
///
/// The GPU's side is <barmap/gpu/signal.cuh>; the rules are in share/doc/barmap/rings.md. None of them
/// can be moved: threads refer to them. Destroy them when no kernel and no stream uses them any more.
/// After fork() the child may only destroy them.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/gpu/signal.cuh>
#include <barmap/signal_words.hpp>

#include <chrono>
#include <cstdint>

namespace barmap::inline BARMAP_INLINE_NAMESPACE {

/// A 64-bit number that a CPU thread advances, and GPU code and streams wait for.
///
///     barmap::counter_to_gpu inputs(words);
///     inputs.wait(stream, 17);       // what the stream is given now starts when it is 17
///     barmap::write(map.window(), values);
///     inputs.advance(17);
///
/// Thread rule: one thread at a time advances it; the other members may be called beside that.
class BARMAP_API counter_to_gpu {
public:
    /// @throws error as arena::take_gpu()
    explicit counter_to_gpu(arena const& memory, std::uint64_t first = 0);
    counter_to_gpu(counter_to_gpu const&) = delete;
    counter_to_gpu& operator=(counter_to_gpu const&) = delete;
    ~counter_to_gpu();

    /// What kernels take, by value.
    [[nodiscard]] gpu::counter_to_gpu handle() const noexcept;
    /// The same for a thread of this process that stands for a kernel.
    [[nodiscard]] gpu::counter_to_gpu handle_for_thread() const noexcept;

    /// Sets the number, at once, after all that this thread has written through mappings of this
    /// GPU and to host memory. It must not go back.
    void advance(std::uint64_t to) noexcept {
        value_ = to;
        word_.publish(0, to);
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; } ///< as set last

    /// Lets work that the stream is given from now on wait until the number is at least this.
    /// Captured into a graph, each replay waits for the same number.
    /// @param stream a CUstream or cudaStream_t; null: the default stream
    /// @throws error errc::unsupported_operation where the driver lacks such waits, or what CUDA
    ///         reports
    void wait(void* stream, std::uint64_t at_least) const;

private:
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
/// Thread rule: every member may be called at once.
class BARMAP_API counter_to_cpu {
public:
    /// @throws error as arena::take_gpu() and take_host()
    explicit counter_to_cpu(arena const& memory, std::uint64_t first = 0);
    counter_to_cpu(counter_to_cpu const&) = delete;
    counter_to_cpu& operator=(counter_to_cpu const&) = delete;
    ~counter_to_cpu();

    [[nodiscard]] gpu::counter_to_cpu handle() const noexcept;
    [[nodiscard]] gpu::counter_to_cpu handle_for_thread() const noexcept;

    /// The number, as it is now. What was stored before it was advanced is seen after.
    [[nodiscard]] std::uint64_t value() const noexcept {
        return gpu::load_acquire(reinterpret_cast<gpu::word const*>(word_.data()));
    }
    [[nodiscard]] bool is_at_least(std::uint64_t number) const noexcept {
        return static_cast<std::int64_t>(value() - number) >= 0;
    }
    /// @return whether it was reached in time
    [[nodiscard]] bool wait_for(std::uint64_t at_least,
                                std::chrono::nanoseconds at_most) const noexcept {
        return detail::look_until([&] { return is_at_least(at_least); }, at_most);
    }

    /// Has the stream set the number when all work that it was given before is complete. Captured
    /// into a graph, each replay sets the same number: then a flag may suit better.
    /// @param stream a CUstream or cudaStream_t; null: the default stream
    /// @throws error errc::unsupported_operation where the driver lacks such stores, or what CUDA
    ///         reports
    void record(void* stream, std::uint64_t value) const;

private:
    arena memory_;
    arena::part word_;
    detail::words_to_gpu arrived_;
    std::uint64_t first_;
};

/// Something that a CPU thread raises, and GPU code or a stream waits for and lowers: for graphs that
/// are replayed, which cannot count.
///
///     barmap::flag_to_gpu go(words);
///     go.wait(stream);               // also while the stream is captured
///     ...
///     go.raise();                    // once for each replay
///
/// Thread rule: every member may be called at once. Raising it before it was lowered has no effect.
class BARMAP_API flag_to_gpu {
public:
    /// Lowered. @throws error as arena::take_gpu()
    explicit flag_to_gpu(arena const& memory);
    flag_to_gpu(flag_to_gpu const&) = delete;
    flag_to_gpu& operator=(flag_to_gpu const&) = delete;
    ~flag_to_gpu();

    [[nodiscard]] gpu::flag_to_gpu handle() const noexcept;
    [[nodiscard]] gpu::flag_to_gpu handle_for_thread() const noexcept;

    /// Raises it, at once, after all that this thread has written through mappings of this GPU and to
    /// host memory.
    void raise() noexcept { word_.publish(0, 1); }

    /// Lets work that the stream is given from now on wait until the flag is raised, and lowers it.
    /// @throws error as counter_to_gpu::wait()
    void wait(void* stream) const;

private:
    arena memory_;
    detail::words_to_gpu word_;
};

/// Something that GPU code or a stream raises, and a CPU thread waits for and lowers.
///
///     barmap::flag_to_cpu done(words);
///     done.record(stream);           // also while the stream is captured
///     ...
///     if (done.wait_for(std::chrono::milliseconds(5)))
///         done.lower();
///
/// Thread rule: every member may be called at once. Raising it before it was lowered has no effect.
class BARMAP_API flag_to_cpu {
public:
    /// Lowered. @throws error as arena::take_host()
    explicit flag_to_cpu(arena const& memory);
    flag_to_cpu(flag_to_cpu const&) = delete;
    flag_to_cpu& operator=(flag_to_cpu const&) = delete;
    ~flag_to_cpu();

    [[nodiscard]] gpu::flag_to_cpu handle() const noexcept;
    [[nodiscard]] gpu::flag_to_cpu handle_for_thread() const noexcept;

    /// What was stored before it was raised is seen after.
    [[nodiscard]] bool is_raised() const noexcept { return gpu::load_acquire(word()) != 0; }
    /// @return whether it was raised in time
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds at_most) const noexcept {
        return detail::look_until([&] { return is_raised(); }, at_most);
    }
    void lower() noexcept { gpu::store_release(word(), 0); }

    /// Has the stream raise it when all work that it was given before is complete.
    /// @throws error as counter_to_cpu::record()
    void record(void* stream) const;

private:
    [[nodiscard]] gpu::word* word() const noexcept {
        return reinterpret_cast<gpu::word*>(word_.data());
    }
    arena memory_;
    arena::part word_;
};

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
