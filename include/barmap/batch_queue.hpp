// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/report.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace barmap {
struct batch_queue_state; ///< inside the library
}

namespace barmap::inline BARMAP_INLINE_NAMESPACE {

class device;

/// Names a submitted batch; 0 names none, and is done.
enum class batch_ticket : std::uint64_t {};

/// Start after all work already enqueued on the stream.
struct after {
    void* stream = nullptr; ///< a CUstream or cudaStream_t, of the GPU; null: the default stream
    /// How long the batch may wait for the stream, from its submission on; without a value, as long
    /// as the stream takes. With the channel, a batch that waits longer fails, once those before it
    /// in its queue are done; CUDA's own copies always wait.
    std::optional<std::chrono::nanoseconds> at_most{};
};

/// Make work that is enqueued on the stream later wait until the batch is done: it sees the bytes.
struct then {
    void* stream = nullptr; ///< as in after
};

/// Copies many scattered pieces between memories that CUDA has mapped for a GPU (its own, other
/// GPUs', pinned host memory): asynchronously, in the order of CUDA streams if you want, and
/// without a kernel. With the engine "channel", no piece needs a driver call. The queue's GPU makes
/// the copies, on whichever GPUs the two sides are.
///
///     barmap::batch_queue queue = gpu.batches();
///     barmap::batch_ticket const ticket = queue.submit(pieces);
///     if (!queue.wait(ticket, std::chrono::seconds(1))) ...
///     queue.submit(pieces, barmap::after{stream}, barmap::then{stream}); // as if on that stream
///
/// As with cudaMemcpyAsync, keep both sides of every piece allocated, and the sources unchanged,
/// until the ticket is done (with `then`: until the stream has passed it). Pieces of one batch have
/// no order; nor have batches, unless streams order them. A batch copies what this thread wrote
/// before, to host memory and through mappings. The rules are O32 to O36, and between GPUs O52 and
/// O53, of docs/ordering.md.
///
/// A batch fails if CUDA has not mapped an address for this GPU, or if memory is freed while it is
/// copied; all unfinished batches of the same channel fail with it. Within 100 ms done() and wait()
/// throw for them, and streams that wait for them are released. A batch that waits for a stream
/// delays no batch of the other direction, and none of its own direction while those wait for three
/// streams at most.
///
/// A cheap handle; copies share one state, which keeps the device alive. The destructor of a GPU's
/// last handle waits for the batches in flight, and so for the streams that they wait for. In a
/// forked child every member throws, except copies, assignments and the destructor.
/// Thread rule: any number of threads may use one handle at once.
class BARMAP_API batch_queue {
public:
    batch_queue(batch_queue const&) noexcept;
    batch_queue& operator=(batch_queue const&) noexcept;
    ~batch_queue();

    /// Begins to copy, and returns at once. The channel takes about a million pieces, or one longer
    /// list, and 8,000 batches in each queue before a submission waits for room. With CUDA's own
    /// copies, a submission waits sooner: behind 1,023 batches, and wherever the driver's call
    /// waits.
    /// @param pieces any number, in any mixture of directions; none may write what another one
    ///        reads or writes. The batch's direction is that of its first piece that is not empty:
    ///        from host memory, to it, or neither. A batch is fastest if all pieces go in one
    ///        direction. You may free the list when the call returns
    /// @throws error errc::invalid_argument (a null address, or one out of range),
    ///         errc::wrong_device (a stream of another GPU; with the channel, memory of another GPU
    ///         that is not mapped for this one, because cudaDeviceEnablePeerAccess or access rights
    ///         are missing: of a long list, 64 pieces are checked), errc::unsupported_operation (a
    ///         stream is being captured into a graph), errc::unsupported_memory, errc::out_of_range
    ///         (with CUDA's own copies, an address that CUDA does not know, or a piece beyond its
    ///         allocation), errc::backend_broken (no engine works any more), errc::forked_child, or
    ///         what CUDA reports for a stream; std::bad_alloc. After an error no piece is in
    ///         flight, except after errc::copy_unfinished: CUDA failed half-way and does not say
    ///         when its copies end, so keep both sides
    batch_ticket submit(std::span<copy_piece const> pieces, std::optional<after> begin = {},
                        std::optional<then> end = {});

    /// Whether a batch is done. If it is, this thread sees its bytes.
    /// @throws error errc::copy_unfinished if the batch has failed: which of its bytes were copied
    ///         is unknown; errc::invalid_argument for a ticket that this GPU's batch queue did not
    ///         give, or gave before its last handle was destroyed
    [[nodiscard]] bool done(batch_ticket ticket) const;

    /// Waits without giving up the CPU. @return whether it is done. @throws error as done()
    bool wait(batch_ticket ticket, std::chrono::nanoseconds at_most) const;

    /// "channel" or "driver": the engine that takes batches now.
    [[nodiscard]] std::string_view name() const;

    /// A report for each engine that was tried for batches, in order, with the number that it
    /// took.
    [[nodiscard]] std::vector<engine_report> reports() const;

private:
    friend class device;
    explicit batch_queue(std::shared_ptr<batch_queue_state> state) noexcept;
    std::shared_ptr<batch_queue_state> state_;
};

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
