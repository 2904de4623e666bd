// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/gpu.hpp"
#include "driver/cuda/types.hpp"
#include "transfer/engine/batch_test_memory.hpp"
#include "transfer/engine/engine.hpp"

#include <barmap/error.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

/// The contract between the core and what copies batches: lists of pieces with CUDA's addresses,
/// submitted at once or in the order of CUDA streams. Whoever submits keeps both sides.
namespace barmap::engine {

/// A batch's ordering relative to CUDA streams.
struct stream_order {
    std::optional<CUstream> after, then;
    std::optional<std::chrono::nanoseconds> at_most; ///< how long it may wait for `after`
};

/// @throws error if CUDA says that a call for a stream has failed
void check_stream(CUresult result);

/// Whether its streams are there, and take a batch. @throws error what CUDA says,
/// errc::unsupported_operation for one that is being captured into a graph
void expect_usable(stream_order const& order);

/// Thrown by a submission to an engine that takes no more.
struct has_stopped : error {
    explicit has_stopped(std::string advice)
        : error(errc::backend_broken, "submit a batch to a copy engine", "", std::move(advice)) {}
};

/// Copies batches for one GPU. Thread rule: start() once; afterwards every member from any thread
/// at once, but close(), which is the last.
class batch_engine {
public:
    virtual ~batch_engine() = default;

    /// Opens what it needs, and measures what there is to choose from. Frees nothing. @throws error
    /// errc::backend_absent where this machine does not offer it; any other error means broken
    virtual void start(batch_test_memory const& memory) = 0;

    /// How it copies, for a report's reason. One clause.
    [[nodiscard]] virtual std::string_view form() const noexcept = 0;

    /// Whether it copies what CUDA does not know as memory of the GPU or of the host only if that
    /// is refused first.
    [[nodiscard]] virtual bool needs_known_memory() const noexcept = 0;

    /// Begins to copy. What this thread has stored and flushed before is seen by the copy. Where a
    /// batch waits, for its stream or for room, it holds up none of other streams and none of the
    /// other direction, as long as no more streams are waited for than it has queues for.
    /// @param way of the batch, by which a queue is chosen; its pieces may go any way
    /// @param pieces each of 1 to most_piece_bytes; none: only the order is kept
    /// @param bytes of all pieces
    /// @return the batch's number, below 2^number_bits
    /// @throws has_stopped, error, std::bad_alloc; then nothing of the batch is in flight, but for
    ///         errc::copy_unfinished
    virtual ticket submit(direction way, std::span<piece const> pieces, std::size_t bytes,
                          stream_order const& order) = 0;

    static constexpr unsigned number_bits = 48;

    enum class state { done, failed, in_flight, never_given }; // of parts, the last one counts

    /// Where a batch is. For one that is done, this thread sees its bytes; of one that has failed,
    /// nothing is in flight any more. Makes no system call and takes no lock.
    [[nodiscard]] virtual state poll(ticket number) noexcept = 0;

    /// Whether it takes no batches any more.
    [[nodiscard]] virtual bool has_stopped() const noexcept = 0;

    /// Why, once it has. One clause.
    [[nodiscard]] virtual std::string why_it_stopped() = 0;

    /// Stops it. May take as long as the driver takes.
    /// @return whether nothing that was submitted is still in flight; false if nobody knows
    virtual bool close() noexcept = 0;
};

/// One line of the ordered list.
struct batch_registration {
    std::string_view name;
    std::unique_ptr<batch_engine> (*make)(gpu const& gpu);
};

/// All of them, in the order in which they are preferred, under the names of copy engines.
[[nodiscard]] std::span<batch_registration const> batch_registry() noexcept;

std::unique_ptr<batch_engine> make_channel_batches(gpu const& gpu);
std::unique_ptr<batch_engine> make_driver_batches(gpu const& gpu);

/// Moves random values both ways, and looks with the driver whether they are where they should be.
/// @throws error errc::backend_broken, or what failed
void self_test(batch_engine& engine, gpu const& which, batch_test_memory const& memory);

} // namespace barmap::engine
