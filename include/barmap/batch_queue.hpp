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
    /// as the stream takes. With the channel, a batch that waits longer has failed, once those
    /// before it in its queue are done; CUDA's own copies always wait.
    std::optional<std::chrono::nanoseconds> at_most{};
};

/// Hold up work enqueued on the stream later until the batch is done: that work sees its bytes.
struct then {
    void* stream = nullptr; ///< as in after
};

/// Copies of many scattered pieces between any memories that CUDA has mapped for a GPU (its own,
/// other GPUs', pinned host memory), asynchronous, and in the order of CUDA streams where that is
/// wanted: with no kernel, and where the engine is the channel with no call of the driver for a
/// piece. The queue's GPU makes them, whichever GPUs the two sides are on.
///
///     barmap::batch_queue queue = gpu.batches();
///     barmap::batch_ticket const ticket = queue.submit(pieces);
///     if (!queue.wait(ticket, std::chrono::seconds(1))) ...
///     queue.submit(pieces, barmap::after{stream}, barmap::then{stream}); // as if on that stream
///
/// The caller keeps both sides of every piece allocated, and unchanged where they are read, until
/// the ticket is done (with `then`: until the stream is past it), as with cudaMemcpyAsync. Pieces
/// of one batch are in no order; nor are batches among each other but by streams. What this
/// thread wrote to host memory before is copied; so is what it wrote through a mapping. The rules
/// are O32 to O36, and between GPUs O52 and O53, of docs/ordering.md.
///
/// An address that CUDA has not mapped for this GPU, or memory that is freed while it is copied,
/// makes the batch fail, and with it those that the same channel had not yet done: within 100 ms
/// done() and wait() throw for them, and streams that wait for them are released. A batch that
/// waits for a stream holds up no batch of the other direction, and no other of its own direction
/// as long as those wait for three streams at most.
///
/// A cheap handle; copies share one state, which keeps the device. The destructor of a GPU's last
/// one waits for the batches in flight, and so for the streams that those wait for. Thread rule:
/// any number of threads may use one at once. In a forked child every member but copies,
/// assignments and the destructor throws.
class BARMAP_API batch_queue {
public:
    batch_queue(batch_queue const&) noexcept;
    batch_queue& operator=(batch_queue const&) noexcept;
    ~batch_queue();

    /// Begins to copy, and returns at once. The channel takes about a million pieces, or one longer
    /// list, and 8,000 batches in each queue before a submission waits for room; CUDA's own copies
    /// wait sooner, where their driver or 255 batches behind the same stream do.
    /// @param pieces any number, in any mixture of directions; none may write what another one
    ///        reads or writes. The batch's direction is that of its first piece that is not empty:
    ///        from host memory, to it, or neither. A
    ///        batch is fastest if all go the same way. The list may go when the call returns
    /// @throws error errc::invalid_argument (a null address, or one out of range),
    ///         errc::wrong_device (the channel: memory of another GPU that is not mapped for this
    ///         one, for want of cudaDeviceEnablePeerAccess or of access rights; of a long list, 64
    ///         pieces are looked at. A stream of another GPU),
    ///         errc::unsupported_operation (a stream is being captured into a graph),
    ///         errc::unsupported_memory, errc::out_of_range (CUDA's own copies: what CUDA does not
    ///         know, or reaches beyond it), errc::backend_broken (no engine works any more),
    ///         errc::forked_child, or what CUDA says of a stream; std::bad_alloc. No piece is in
    ///         flight then, but for errc::copy_unfinished: CUDA failed half-way and does not say
    ///         when its copies end, so that both sides have to be kept
    batch_ticket submit(std::span<copy_piece const> pieces, std::optional<after> begin = {},
                        std::optional<then> end = {});

    /// Whether a batch is done. Where it is, this thread sees its bytes.
    /// @throws error errc::copy_unfinished if it has failed: which of its bytes were copied is
    ///         unknown; errc::invalid_argument for a ticket that this GPU's batch queue has not
    ///         given, or had given before its last handle was destroyed
    [[nodiscard]] bool done(batch_ticket ticket) const;

    /// Waits without giving up the CPU. @return whether it is done. @throws error as done()
    bool wait(batch_ticket ticket, std::chrono::nanoseconds at_most) const;

    /// "channel" or "driver": what takes batches now.
    [[nodiscard]] std::string_view name() const;

    /// What was found of each engine that was tried for batches, in order, and how many it took.
    [[nodiscard]] std::vector<engine_report> reports() const;

private:
    friend class device;
    explicit batch_queue(std::shared_ptr<batch_queue_state> state) noexcept;
    std::shared_ptr<batch_queue_state> state_;
};

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
