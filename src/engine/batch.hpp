// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/gpu.hpp"
#include "cuda/types.hpp"
#include "engine/batch_test_memory.hpp"
#include "engine/engine.hpp"

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

/// Between which work of which streams a batch comes.
struct stream_order {
    std::optional<CUstream> after, then;
    std::chrono::milliseconds at_most{}; ///< from the submission to the end, with `after`
};

/// @throws error if CUDA says that a call for a stream has failed
void check_stream(CUresult result);

/// Whether its streams are there, and take a batch. @throws error what CUDA says,
/// errc::unsupported_operation for one that is being captured into a graph
void expect_usable(stream_order const& order);

/// Thrown by a submission of which nothing has begun.
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

    /// Begins to copy. What this thread has stored and flushed before is seen by the copy.
    /// @param pieces each of 1 to most_piece_bytes; none: only the order is kept
    /// @param bytes of all pieces
    /// @return the batch's number, below 2^56
    /// @throws has_stopped, error where it stops meanwhile, or what CUDA says of a stream; then
    ///         nothing of the batch is under way any more
    virtual ticket submit(direction which, std::span<piece const> pieces, std::size_t bytes,
                          stream_order const& order) = 0;

    enum class state { under_way, done, failed };

    /// Where a batch is. For one that is done, this thread sees its bytes; of one that has failed,
    /// nothing is under way any more. Notices what has failed, and begins to stop it.
    [[nodiscard]] virtual state look(ticket number) noexcept = 0;

    /// Whether it takes no batches any more.
    [[nodiscard]] virtual bool has_stopped() const noexcept = 0;

    /// Why, once it has. One clause.
    [[nodiscard]] virtual std::string why_it_stopped() const = 0;

    /// Stops it. May take as long as the driver takes.
    /// @return whether nothing that was submitted is still under way; false if nobody knows
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
