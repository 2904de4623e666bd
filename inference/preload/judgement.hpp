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
/// Thread rule: every function may be called at once. What asks CUDA throws error where there is
/// none.
namespace barmap::memcpy_dropin {

/// What the size of a batch is compared with: values of barmap::policies().
struct limits {
    std::size_t most_mean_bytes;      ///< taken_piece
    std::size_t large_mean_bytes;     ///< taken_large_piece
    std::size_t least_bytes_of_large; ///< taken_large_batch
    std::size_t least_pieces;         ///< taken_pieces
    /// Reads the environment, at the first call of the process.
    [[nodiscard]] static limits const& in_force();
};

/// The judgement by the lists alone. Asks CUDA once how many GPUs there are.
[[nodiscard]] std::optional<reason> judge_lists(batch_call const& call);

/// Whether the stream is being captured, which other questions to CUDA could end.
[[nodiscard]] std::optional<reason> judge_capture(CUstream stream);

/// Between which memories a batch copies.
enum class direction { to_gpu, to_cpu, among_gpus };

/// A batch's pieces, with what decides who copies it.
struct judged_batch {
    std::vector<copy_piece> pieces;
    std::size_t bytes = 0;
    direction way = direction::among_gpus; ///< of all pieces
};

/// The judgement by the memory of the first piece. Its direction and the size of all are in `batch`
/// then.
[[nodiscard]] std::optional<reason> judge_first(batch_call const& call, cuda::address_ranges& asked,
                                                judged_batch& batch);

/// The judgement by the size, where CUDA's copies are as fast: large pieces between host and GPU.
/// It comes before judge_memory(), so that such a batch pays for one piece alone.
/// @param other_way_is_in_flight whether barmap copies the other direction of the link: its
///        batches of both directions share one engine, and CUDA's do not
[[nodiscard]] std::optional<reason> judge_size(batch_call const& call, judged_batch const& batch,
                                               bool other_way_is_in_flight) noexcept;

/// The judgement by the memory of each piece. If nothing is against it, the pieces are in `batch`.
/// @throws std::bad_alloc
[[nodiscard]] std::optional<reason> judge_memory(batch_call const& call,
                                                 cuda::address_ranges& asked, judged_batch& batch);

} // namespace barmap::memcpy_dropin
