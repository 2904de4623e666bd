// SPDX-License-Identifier: MIT
#pragma once

#include "batch_call.hpp"
#include "reasons.hpp"

#include "cuda/address_ranges.hpp"

#include <barmap/types.hpp>

#include <cstddef>
#include <optional>
#include <vector>

/// Which batches barmap takes. All that it does not understand, or does no better, is CUDA's.
/// Thread rule: every function may be called at once. A function that asks CUDA throws error
/// where there is none.
namespace barmap::memcpy_dropin {

/// Between which memories a batch copies.
enum class memory_pair { to_gpu, to_cpu, inside_gpu, between_gpus };

/// The limits for the size of a batch: values of barmap::policies().
struct limits {
    struct of_size {
        std::size_t least_pieces;
        std::size_t most_mean_bytes;
    };
    of_size with_host;                ///< taken_pieces, taken_piece
    of_size of_small;                 ///< taken_small_pieces, taken_small_piece: with the host
    std::size_t busy_mean_bytes;      ///< taken_busy_piece
    of_size inside_gpu;               ///< taken_pieces_inside, taken_piece_inside
    of_size between_gpus;             ///< taken_pieces_between, taken_piece_between
    std::size_t large_mean_bytes;     ///< taken_large_piece
    std::size_t least_bytes_of_large; ///< taken_large_batch
    std::size_t short_large_pieces;   ///< such a list the core itself leaves to CUDA
    std::size_t large_piece;
    std::size_t least_pieces; ///< of any direction

    /// Reads the environment, at the first call of the process.
    [[nodiscard]] static limits const& in_force();
    [[nodiscard]] of_size const& of(memory_pair way) const noexcept;
    /// The fewest pieces of any batch that goes this way.
    [[nodiscard]] std::size_t least_pieces_of(memory_pair way) const noexcept;
};

/// Whether BARMAP_ENGINE=none was set when this was first asked. Reads that variable alone:
/// searches ask it that come before the program has set others.
[[nodiscard]] bool is_turned_off() noexcept;

/// The judgement by the number of pieces alone.
[[nodiscard]] inline bool has_too_few(batch_call const& call) {
    return call.count < limits::in_force().least_pieces;
}

/// The judgement by what is wrong with the arguments, or not known. Asks CUDA once how many GPUs
/// there are.
/// @param bytes of all pieces, where nothing is against them
[[nodiscard]] std::optional<reason> judge_arguments(batch_call const& call, std::size_t& bytes);

/// The judgement by the arguments, and by how many and how large the pieces are.
/// @param bytes as above
[[nodiscard]] std::optional<reason> judge_lists(batch_call const& call, std::size_t& bytes);

/// Whether the stream is being captured, which other questions to CUDA could end.
[[nodiscard]] std::optional<reason> judge_capture(CUstream stream);

/// Both sides of a piece: where CUDA says that they lie.
struct sides {
    cuda::address_range to, from;
};

/// A batch's pieces, with what decides who copies it.
struct judged_batch {
    std::vector<copy_piece> pieces;
    std::size_t bytes = 0;
    sides first; ///< of the first piece
    /// Of the first piece. After judge_memory() to the CPU if any piece is, else to the GPU if any
    /// is.
    memory_pair way = memory_pair::inside_gpu;
};

/// The judgement by the memory of the first piece. Afterwards `batch` has its kind.
[[nodiscard]] std::optional<reason> judge_first(batch_call const& call, cuda::address_ranges& asked,
                                                judged_batch& batch);

/// The judgement by the size, where CUDA's copies are as fast. It comes before judge_memory(), so
/// that such a batch pays for one piece alone.
/// @param beside_stores whether barmap stores now: its batches of both directions share one engine,
///        and CUDA's do not. Loads yield, since CUDA's stores keep small copies to the CPU waiting
///        for as long as they run
[[nodiscard]] std::optional<reason> judge_size(std::size_t count, std::size_t bytes,
                                               memory_pair way, bool beside_stores);

/// Whether a batch is taken only where its stream has no unfinished work: one with the host of
/// fewer than taken_pieces, above taken_busy_piece on average.
[[nodiscard]] bool needs_idle_stream(std::size_t count, std::size_t bytes, memory_pair way);

/// The judgement by the work of the stream. Asks CUDA only for batches that need an idle one.
[[nodiscard]] std::optional<reason> judge_place(batch_call const& call, judged_batch const& batch);

/// The judgement by the memory of each piece. If nothing is against it, the pieces are in `batch`,
/// and the caller asks judge_size() again if its `way` is another one.
/// @throws std::bad_alloc
[[nodiscard]] std::optional<reason> judge_memory(batch_call const& call,
                                                 cuda::address_ranges& asked, judged_batch& batch);

} // namespace barmap::memcpy_dropin
