// SPDX-License-Identifier: MIT
/// A log of running GPU code: the CPU's side, which makes and reads it.
///
/// Any thread of any kernel writes records, and never waits. They are read while kernels run, after
/// one has hung or failed, and by other processes. The GPU's side is <barmap/gpu/log.cuh>; the
/// rules are in share/doc/barmap/log.md.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/export.hpp>
#include <barmap/gpu/log.cuh>
#include <barmap/signal_words.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace barmap {
struct log_state; ///< inside the library
}

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// A record that a kernel wrote with gpu::log().
struct log_record {
    std::uint64_t time;    ///< ns, by the GPU's clock (gpu::nanoseconds_now)
    std::uint64_t number;  ///< of the record, counted from the log's first
    std::uint32_t id;      ///< names a place of the program
    std::uint32_t a, b, c; ///< as passed to gpu::log()
};

/// A ring of records in host memory, which keeps the newest.
///
///     barmap::log_ring log(gpu, 1 << 16);
///     work<<<blocks, threads>>>(log.handle());
///     std::array<barmap::log_record, 64> records;
///     while (log.wait_for(std::chrono::seconds(1)))
///         for (auto const& each : std::span(records).first(log.read(records)))
///             std::printf("%u: block %u\n", each.id, each.a);
///
/// Each object reads independently: any number of them, in any processes, see all records. Not
/// movable. Destroy it when no kernel uses it any more. After fork() the child may only destroy it,
/// and may open its own.
/// Thread rule: one thread at a time calls read(), wait_for() and lost(); other threads may call
/// the other members meanwhile.
class BARMAP_API log_ring {
public:
    /// @param memory provides 8 bytes of GPU memory, for the next number. The records lie in a
    ///        separate memory file
    /// @param slots how many records it keeps, of 32 bytes each: a power of two, up to 2^32
    /// @throws error errc::invalid_argument; errc::out_of_range if the arena has no room; or as
    ///         the arena's constructor
    log_ring(arena const& memory, std::size_t slots) : log_ring(memory, slots, 0) {}
    /// The same with a separate arena.
    log_ring(device const& gpu, std::size_t slots);
    log_ring(log_ring const&) = delete;
    log_ring& operator=(log_ring const&) = delete;
    ~log_ring();

    /// Lets another process read as well. The descriptor gives access to the records alone, and
    /// keeps them even if this process ends.
    /// @return a descriptor, which the caller closes. @throws error if no descriptor is left
    [[nodiscard]] int share() const;

    /// Opens a log by its descriptor, in a process that needs neither CUDA nor the GPU. Reading
    /// begins with the oldest record that is left; lost() counts those before it. The memory is
    /// mapped for reading only, and handle() has no addresses.
    /// @param descriptor stays the caller's; it may be open for reading only, such as one from
    ///        /proc/PID/fd/N
    /// @throws error errc::invalid_argument for another descriptor, or errc::unsupported_operation
    ///         for one of another version of barmap
    [[nodiscard]] static log_ring open_shared(int descriptor);

    /// The argument for kernels, passed by value.
    [[nodiscard]] gpu::log_ring handle() const noexcept;
    /// The same for a thread of this process that acts as a kernel, as in tests.
    [[nodiscard]] gpu::log_ring handle_for_thread() const noexcept;

    /// Reads the records that have arrived, in the order of their numbers, each once. Never waits.
    ///
    /// A record that a thread has begun and not written delays those behind it for up to 200 ms,
    /// and then counts as lost: its thread was killed, or is late. The delay is longer if more than
    /// 16,384 contiguous records are missing.
    /// @return how many were read
    [[nodiscard]] std::size_t read(std::span<log_record> records) noexcept;

    /// Polls for a record, without giving up the CPU. @return whether there is one
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds at_most) noexcept;

    /// How many records this object has not read and never will: newer ones took their place, or
    /// their threads never wrote them. It counts them when it reads a record behind them.
    [[nodiscard]] std::uint64_t lost() const noexcept;
    [[nodiscard]] std::size_t slots() const noexcept;

private:
    friend detail::first_number;
    log_ring(arena const& memory, std::size_t slots, std::uint64_t first);
    explicit log_ring(std::unique_ptr<log_state> state) noexcept;

    std::unique_ptr<log_state> state_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
