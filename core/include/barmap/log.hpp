// SPDX-License-Identifier: MIT
/// A log of running GPU code: the CPU's side, which makes and reads it, with the rules of
/// <barmap/log.h>. The GPU's side is <barmap/gpu/log.cuh>.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/gpu/log.cuh>
#include <barmap/handle.hpp>
#include <barmap/log.h>
#include <barmap/signal_words.hpp>
#include <barmap/waits.hpp>

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

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
class log_ring {
public:
    /// Makes a log with 8 bytes of an arena. Contract and errors: barmap_log_create_in().
    log_ring(arena const& memory, std::size_t slots) : log_ring(memory, slots, 0) {}
    /// Makes a log in separate memory. Contract and errors: barmap_log_create().
    log_ring(device const& gpu, std::size_t slots)
        : log_ring(detail::made<barmap_log>([&](auto out) {
              return barmap_log_create(gpu.c_handle(), slots, nullptr, out);
          })) {}
    log_ring(log_ring const&) = delete;
    log_ring& operator=(log_ring const&) = delete;

    /// Makes a descriptor, which the caller closes, with which another process reads as well.
    /// Contract and errors: barmap_log_share().
    [[nodiscard]] int share() const {
        int descriptor = -1;
        detail::check(barmap_log_share(handle_.get(), &descriptor));
        return descriptor;
    }

    /// Opens a log by its descriptor, in a process that needs neither CUDA nor the GPU: handle()
    /// has no addresses there. Contract and errors: barmap_log_open_shared().
    [[nodiscard]] static log_ring open_shared(int descriptor) {
        return log_ring(detail::made<barmap_log>(
            [&](auto out) { return barmap_log_open_shared(descriptor, out); }));
    }

    /// The argument for kernels, passed by value. Contract and errors: barmap_log_get_handle().
    [[nodiscard]] gpu::log_ring handle() const noexcept { return handle_at(0); }
    /// The same for a thread of this process that acts as a kernel, as in tests.
    /// Contract and errors: barmap_log_get_handle().
    [[nodiscard]] gpu::log_ring handle_for_thread() const noexcept { return handle_at(1); }

    /// Reads the records that have arrived, in order, each once, and returns how many. Never waits.
    /// Contract and errors: barmap_log_read().
    [[nodiscard]] std::size_t read(std::span<log_record> records) noexcept {
        return barmap_log_read(handle_.get(), reinterpret_cast<barmap_log_record*>(records.data()),
                               records.size());
    }

    /// Polls for a record; false if none has come. Contract and errors: barmap_log_wait().
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds at_most) noexcept {
        return barmap_log_wait(handle_.get(), detail::ns_of_wait(at_most)) != 0;
    }

    /// How many records this object has not read and never will.
    /// Contract and errors: barmap_log_lost().
    [[nodiscard]] std::uint64_t lost() const noexcept { return barmap_log_lost(handle_.get()); }
    [[nodiscard]] std::size_t slots() const noexcept { return handle_at(0).mask + 1; }

private:
    friend detail::first_number;
    log_ring(arena const& memory, std::size_t slots, std::uint64_t first)
        : log_ring(detail::made<barmap_log>([&](auto out) {
              return barmap_log_create_in(memory.c_handle(), slots, first, nullptr, out);
          })) {}
    explicit log_ring(barmap_log* of) noexcept : handle_(of) {}
    [[nodiscard]] gpu::log_ring handle_at(int for_thread) const noexcept {
        barmap_log_handle result{};
        barmap_log_get_handle(handle_.get(), for_thread, &result);
        return std::bit_cast<gpu::log_ring>(result);
    }

    static_assert(sizeof(log_record) == sizeof(barmap_log_record) &&
                  offsetof(log_record, id) == offsetof(barmap_log_record, id) &&
                  offsetof(log_record, c) == offsetof(barmap_log_record, c));
    detail::owned<barmap_log, barmap_log_destroy> handle_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
