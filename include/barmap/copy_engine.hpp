// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/engine.hpp>
#include <barmap/export.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace barmap {
struct copy_engine_state; ///< inside the library
}

namespace barmap::inline BARMAP_INLINE_NAMESPACE {

class device;

/// One contiguous part of a batch: addresses as CUDA knows them, of any alignment.
struct copy_piece {
    std::uintptr_t gpu = 0;  ///< memory of this GPU
    std::uintptr_t host = 0; ///< memory that CUDA has pinned: cudaMallocHost, cudaHostRegister
    std::size_t bytes = 0;   ///< 0: nothing is copied
};

/// Names a submitted batch; 0 names none, and is done.
enum class copy_ticket : std::uint64_t {};

/// Copy when the stream has come to this place: after all work that it was given before.
struct after {
    void* stream = nullptr; ///< a CUstream or cudaStream_t; null: the default stream
    /// The longest time from the submission to the end of the copy. With the channel, a batch that
    /// takes longer has failed; CUDA's own copies wait for as long as the stream takes.
    std::chrono::milliseconds at_most{30'000};
};

/// Let the stream go on when the batch is done: all work that it is given later sees the bytes.
struct then {
    void* stream = nullptr; ///< as in after
};

/// Copies of many scattered pieces between GPU memory and pinned host memory, asynchronous, and in
/// the order of CUDA streams where that is wanted: with no kernel, and where the engine is the
/// channel with no call of the driver for a piece.
///
///     barmap::copy_engine engine = gpu.copy_engine();
///     auto const ticket = engine.gather(pieces);                    // GPU to host
///     if (!engine.wait(ticket, std::chrono::seconds(1))) ...
///     engine.submit(barmap::copy_direction::to_gpu, pieces, barmap::after{stream},
///                   barmap::then{stream});                          // as if on that stream
///
/// The caller keeps both sides of every piece allocated, and unchanged where they are read, until
/// the ticket is done (with `then`: until the stream is past it), as with cudaMemcpyAsync. Pieces
/// of one batch are in no order; nor are batches among each other but by streams. What this
/// thread wrote to host memory before is copied; so is what it wrote through a mapping. The rules
/// are O32 to O36 of docs/ordering.md.
///
/// An address that CUDA has not mapped for this GPU, or memory that is freed while it is copied,
/// makes the batch fail, and with it those that the same channel had not yet done: within 100 ms
/// done() and wait() throw for them. Streams that were to go on after one of them go on. A batch
/// that waits for a stream holds up no other, as long as three streams at most are waited for.
///
/// A cheap handle; copies share one state, which keeps the device. The destructor of a GPU's last
/// one waits for the batches under way, and for the streams that were to go on after them. Thread
/// rule: any number of threads may use one at once. In a forked child every member but copies,
/// assignments and the destructor throws.
class BARMAP_API copy_engine {
public:
    copy_engine(copy_engine const&) noexcept;
    copy_engine& operator=(copy_engine const&) noexcept;
    ~copy_engine();

    /// Begins to copy from GPU to host memory. @throws error as submit()
    copy_ticket gather(std::span<copy_piece const> pieces) {
        return submit(copy_direction::to_cpu, pieces);
    }
    /// Begins to copy from host to GPU memory. @throws error as submit()
    copy_ticket scatter(std::span<copy_piece const> pieces) {
        return submit(copy_direction::to_gpu, pieces);
    }

    /// Begins to copy. Returns when all pieces are with the engine: it waits only if more is under
    /// way than the engine has room for, about 57,000 pieces or 250 batches.
    /// @param pieces any number; the list may go when the call returns
    /// @throws error errc::invalid_argument (a null address or one that is out of range; nothing
    ///         is copied then), errc::unsupported_operation (a stream is being captured into a
    ///         graph), errc::unsupported_memory (CUDA's own copies: an address that CUDA does not
    ///         know), errc::backend_broken (no engine works any more, or the channel stopped
    ///         before it had all pieces: some may have been copied), errc::forked_child, or what
    ///         CUDA says of a stream. Nothing is under way then, but for errc::copy_unfinished: the
    ///         channel does not stop, so that both sides have to be kept
    copy_ticket submit(copy_direction direction, std::span<copy_piece const> pieces,
                       std::optional<after> begin = {}, std::optional<then> end = {});

    /// Whether a batch is done. Where it is, this thread sees its bytes.
    /// @throws error errc::copy_unfinished if it has failed: which of its bytes were copied is
    ///         unknown; errc::invalid_argument for a ticket of another engine
    [[nodiscard]] bool done(copy_ticket ticket) const;

    /// Waits without giving up the CPU. @return whether it is done. @throws error as done()
    bool wait(copy_ticket ticket, std::chrono::nanoseconds at_most) const;

    /// "channel" or "driver": what takes batches now.
    [[nodiscard]] std::string_view name() const;

    /// What was found of each engine that was tried for batches, in order, and how many it took.
    [[nodiscard]] std::vector<engine_report> reports() const;

private:
    friend class device;
    explicit copy_engine(std::shared_ptr<copy_engine_state> state) noexcept;
    std::shared_ptr<copy_engine_state> state_;
};

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
