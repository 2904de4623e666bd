// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/batch_queue.h>
#include <barmap/handle.hpp>
#include <barmap/report.hpp>
#include <barmap/waits.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

class device;

/// Names a submitted batch. 0 names none and counts as done.
enum class batch_ticket : std::uint64_t {};

// Parts of batch_queue, outside of it: inside, clang does not let its own members' default arguments
// see that these can be made of nothing.
namespace detail {

/// batch_queue::after
struct batch_after {
    /// A CUstream or cudaStream_t, of the GPU; null: the default stream.
    void* stream = nullptr;
    /// How long the batch may wait for the stream (barmap_batch_options::at_most_ns); without a
    /// value, it has no limit.
    std::optional<std::chrono::nanoseconds> at_most{};
};

/// batch_queue::then
struct batch_then {
    void* stream = nullptr; ///< see batch_after::stream
};

} // namespace detail

/// Copies many scattered pieces between memories that CUDA has mapped for a GPU: its own memory,
/// that of other GPUs, and pinned host memory. Copies are asynchronous, need no kernel, and can be
/// ordered with CUDA streams. The engine "channel" needs no driver call per piece. The queue's GPU
/// makes every copy, even between other GPUs.
///
///     barmap::batch_queue queue = gpu.batch_queue();
///     barmap::batch_ticket const ticket = queue.submit(pieces);
///     if (!queue.wait(ticket, std::chrono::seconds(1))) ...
///     using barmap::batch_queue; // as if on that stream:
///     queue.submit(pieces, batch_queue::after{stream}, batch_queue::then{stream});
///
/// As with cudaMemcpyAsync, keep both sides of every piece allocated, and the sources unchanged,
/// until the ticket is done (with `then`: until the stream has passed it).
///
/// A cheap handle: copies share one state, which keeps the device alive. The destructor of a GPU's
/// last handle waits for the batches in flight (barmap_batch_queue_destroy()). In a forked child
/// every member throws, except copies, assignments, queue_of() and the destructor.
/// Thread rule: any number of threads may use one handle concurrently.
class batch_queue {
public:
    /// Start after all work already enqueued on a stream: after{stream}, or after{stream, at_most}.
    using after = detail::batch_after;
    /// Make work enqueued on a stream later wait until the batch is done: then{stream}. That work
    /// sees the bytes.
    using then = detail::batch_then;

    /// Starts the copies and returns at once. Contract and errors: barmap_batch_queue_submit().
    batch_ticket submit(std::span<copy_piece const> pieces, std::optional<after> begin = {},
                        std::optional<then> end = {}) {
        std::uint64_t ticket = 0;
        detail::check(submit_with(0, pieces, begin, end, ticket));
        return batch_ticket{ticket};
    }

    /// The same, but never starts an engine (BARMAP_BATCH_STARTED): for code that others wait for.
    /// Call open_queues() first, in a thread that may wait. Returns nothing if no engine is at
    /// work, as after a checkpoint, which releases it.
    /// Contract and errors: barmap_batch_queue_submit().
    [[nodiscard]] std::optional<batch_ticket> submit_started(std::span<copy_piece const> pieces,
                                                             std::optional<after> begin = {},
                                                             std::optional<then> end = {}) {
        std::uint64_t ticket = 0;
        int const status = submit_with(BARMAP_BATCH_STARTED, pieces, begin, end, ticket);
        if (status == BARMAP_ERROR_NOT_STARTED)
            return std::nullopt;
        detail::check(status);
        return batch_ticket{ticket};
    }

    /// Starts an engine, unless one is at work, and opens all queues in which submissions with
    /// `after` may wait. Returns the engine's name. Contract and errors: barmap_batch_queue_open().
    std::string_view open_queues() {
        detail::check(barmap_batch_queue_open(handle_.get()));
        return engine();
    }

    /// Whether a batch is done. If it is, this thread sees its bytes.
    /// Contract and errors: barmap_batch_queue_done().
    [[nodiscard]] bool done(batch_ticket ticket) const {
        int result = 0;
        detail::check(barmap_batch_queue_done(handle_.get(), static_cast<std::uint64_t>(ticket), &result));
        return result != 0;
    }

    /// Spins until the batch is done or the time is over; false if it is not done.
    /// Contract and errors: barmap_batch_queue_wait().
    bool wait(batch_ticket ticket, std::chrono::nanoseconds at_most) const {
        int result = 0;
        detail::check(barmap_batch_queue_wait(handle_.get(), static_cast<std::uint64_t>(ticket),
                                              detail::ns_of_wait(at_most), &result));
        return result != 0;
    }

    /// The part of a ticket that batches of one queue of the engine share.
    /// Contract and errors: barmap_batch_queue_of().
    [[nodiscard]] static std::uint64_t queue_of(batch_ticket ticket) noexcept {
        return barmap_batch_queue_of(static_cast<std::uint64_t>(ticket));
    }

    /// "channel" or "driver": the engine that takes batches now. Starts one if none is at work, and
    /// throws if none works. Contract and errors: barmap_batch_queue_engine().
    [[nodiscard]] std::string_view engine() const {
        std::string_view const name = barmap_batch_queue_engine(handle_.get());
        if (name.empty())
            detail::throw_failure(barmap_error_status());
        return name;
    }

    /// A report for each engine tried for batches, in order, with the number of its batches.
    /// Contract and errors: barmap_batch_queue_list_engines().
    [[nodiscard]] std::vector<engine_report> reports() const {
        return detail::reports<barmap_engine_row>(
            [&](auto out) { return barmap_batch_queue_list_engines(handle_.get(), out); });
    }

    /// Takes over a handle of the C interface, or one use of it. @pre it is not NULL
    explicit batch_queue(barmap_batch_queue* of) noexcept : handle_(of) {}
    /// For calls of the C interface; the object keeps it.
    [[nodiscard]] barmap_batch_queue* c_handle() const noexcept { return handle_.get(); }

private:

    // The structures are those of C.
    static_assert(sizeof(copy_piece) == sizeof(barmap_copy_piece) &&
                  offsetof(copy_piece, to) == offsetof(barmap_copy_piece, to) &&
                  offsetof(copy_piece, from) == offsetof(barmap_copy_piece, from) &&
                  offsetof(copy_piece, bytes) == offsetof(barmap_copy_piece, bytes));
    int submit_with(std::uint64_t flags, std::span<copy_piece const> pieces,
                    std::optional<after> const& begin, std::optional<then> const& end,
                    std::uint64_t& ticket) const noexcept {
        barmap_batch_options how{sizeof how, flags, nullptr, 0, nullptr};
        if (begin) {
            how.flags |= BARMAP_BATCH_AFTER;
            how.after = begin->stream;
            if (begin->at_most) // of which 0 is none
                how.at_most_ns = std::max<std::uint64_t>(1, detail::ns_of_wait(*begin->at_most));
        }
        if (end) {
            how.flags |= BARMAP_BATCH_THEN;
            how.then = end->stream;
        }
        return barmap_batch_queue_submit(
            handle_.get(), reinterpret_cast<barmap_copy_piece const*>(pieces.data()), pieces.size(),
            &how, &ticket);
    }

    detail::shared<barmap_batch_queue, barmap_batch_queue_retain, barmap_batch_queue_destroy> handle_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
