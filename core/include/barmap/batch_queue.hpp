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
    /// How long the batch may wait for the stream, counted from its submission; without a value, it
    /// has no limit. On the channel, a batch that waits longer fails once the batches before it in
    /// its queue are done. CUDA's own copies ignore the limit.
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
/// until the ticket is done (with `then`: until the stream has passed it). Pieces of one batch have
/// no order; batches have none unless streams order them. A batch sees this thread's earlier stores
/// to host memory and through mappings. docs/ordering.md has the rules: O32 to O36, and between
/// GPUs O52 and O53.
///
/// A batch fails if CUDA has not mapped an address for this GPU, or if you free memory during the
/// copy; all unfinished batches of the same channel fail with it. Within 100 ms, done() and wait()
/// throw for them, and the library releases the streams that wait for them. A batch that waits for
/// a stream never delays batches of the other direction, and delays those of its own direction only
/// while batches wait for more than three streams.
///
/// A cheap handle: copies share one state, which keeps the device alive. The destructor of a GPU's
/// last handle waits for the batches in flight, and therefore for the streams that they wait for;
/// that of a static handle no longer than two seconds from the exit of the process on.
/// In a forked child every member throws, except copies, assignments, queue_of() and the
/// destructor. Thread rule: any number of threads may use one handle concurrently.
class batch_queue {
public:
    /// Start after all work already enqueued on a stream: after{stream}, or after{stream, at_most}.
    using after = detail::batch_after;
    /// Make work enqueued on a stream later wait until the batch is done: then{stream}. That work
    /// sees the bytes.
    using then = detail::batch_then;

    /// Starts the copies and returns at once. Each queue of the channel accepts 8,000 batches and
    /// about a million pieces, or one longer list, before a submission waits for room. With CUDA's
    /// own copies a submission waits sooner: behind 1,023 batches, and wherever the driver waits.
    /// @param pieces any number, in any mixture of directions; no piece may write bytes that
    ///        another one reads or writes. The first piece that is not empty decides the batch's
    ///        direction: from host memory, to it, or neither. A batch is fastest if all pieces go
    ///        in one direction. You may free the list when the call returns
    /// @throws error errc::invalid_argument (a null address, or one out of range),
    ///         errc::wrong_device (a stream of another GPU; with the channel, memory of another GPU
    ///         that is not mapped for this one, because cudaDeviceEnablePeerAccess or access rights
    ///         are missing: the call checks 64 pieces of a long list), errc::unsupported_operation
    ///         (a stream is being captured), errc::unsupported_memory, errc::out_of_range (with
    ///         CUDA's own copies, an address that CUDA does not know, or a piece beyond its
    ///         allocation), errc::backend_broken (no engine works any more), errc::forked_child, or
    ///         CUDA's error for a stream; std::bad_alloc. After an error no piece is in flight,
    ///         except after errc::copy_unfinished: CUDA failed half-way and does not report when
    ///         its copies end, so keep both sides
    batch_ticket submit(std::span<copy_piece const> pieces, std::optional<after> begin = {},
                        std::optional<then> end = {}) {
        std::uint64_t ticket = 0;
        detail::check(submit_with(0, pieces, begin, end, ticket));
        return batch_ticket{ticket};
    }

    /// The same, but never starts an engine, which takes milliseconds and may wait for kernels that
    /// run: for code that others wait for. Call open_queues() first, in a thread that may wait.
    /// @return nothing if no engine is at work, as after a checkpoint, which releases it; ticket 0
    ///         for a list without pieces and without streams
    /// @throws error as submit(); errc::backend_broken if the engine at work has failed:
    ///         open_queues() then starts the next
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
    /// `after` may wait, so that no later submission does: that takes milliseconds.
    /// @return the engine's name, as engine()
    /// @throws error errc::backend_absent or errc::backend_broken if no engine works
    std::string_view open_queues() {
        detail::check(barmap_batch_queue_open(handle_.get()));
        return engine();
    }

    /// Whether a batch is done. If it is, this thread sees its bytes.
    /// @throws error errc::copy_unfinished if the batch failed, and which of its bytes were copied
    ///         is unknown; errc::invalid_argument for a ticket that this GPU's batch queue did not
    ///         return, or returned before you destroyed its last handle
    [[nodiscard]] bool done(batch_ticket ticket) const {
        int result = 0;
        detail::check(barmap_batch_queue_done(handle_.get(), static_cast<std::uint64_t>(ticket), &result));
        return result != 0;
    }

    /// Spins until the batch is done or the time is over. After a while it lets other threads run
    /// between its looks, and may return later on a busy machine. @return whether it is done.
    /// @throws error as done()
    bool wait(batch_ticket ticket, std::chrono::nanoseconds at_most) const {
        int result = 0;
        detail::check(barmap_batch_queue_wait(handle_.get(), static_cast<std::uint64_t>(ticket),
                                              detail::ns_of_wait(at_most), &result));
        return result != 0;
    }

    /// The part of a ticket that batches of one queue of the engine share. Those end in their order;
    /// of others, any may end first.
    [[nodiscard]] static std::uint64_t queue_of(batch_ticket ticket) noexcept {
        return barmap_batch_queue_of(static_cast<std::uint64_t>(ticket));
    }

    /// "channel" or "driver": the engine that takes batches now. Starts one if none is at work.
    [[nodiscard]] std::string_view engine() const {
        std::string_view const name = barmap_batch_queue_engine(handle_.get());
        if (name.empty())
            detail::throw_failure(barmap_error_status());
        return name;
    }

    /// A report for each engine tried for batches, in order, with the number of its batches.
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
