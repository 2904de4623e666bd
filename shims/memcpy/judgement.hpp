// SPDX-License-Identifier: MIT
#pragma once

#include "batch_call.hpp"
#include "reasons.hpp"

#include <barmap/types.hpp>

#include <optional>
#include <vector>

/// Which batches barmap takes. All that it does not understand, or does no better, is CUDA's.
/// Thread rule: every function may be called at once. What asks CUDA throws error where there is
/// none.
namespace barmap::memcpy_dropin {

// docs/results: 64 pieces are the fewest that were measured. There the engine takes a third of the
// batch call's time or less where the CPU waits (batch-random.csv), and as long between two kernels
// (batch-ordered.csv), where a batch has a fixed cost of some 10 us.
inline constexpr std::size_t least_pieces = 64;
// On average. At 64 KiB, the largest that were measured, the batch call takes 1.35 to 1.75 times
// as long (batch-random.csv); twice that size is within the "some 100 KiB" of docs/batches.md.
// The larger pieces are, the nearer both come to the link.
inline constexpr std::size_t most_mean_bytes = std::size_t{128} << 10;

/// The judgement by the lists alone, without a question to CUDA.
[[nodiscard]] std::optional<reason> judge_lists(batch_call const& call) noexcept;

/// Whether the stream is being captured, which other questions to CUDA could end.
[[nodiscard]] std::optional<reason> judge_capture(CUstream stream);

/// Whether the stream is of this context, which is the current one.
[[nodiscard]] std::optional<reason> judge_context(CUstream stream, CUcontext ours);

/// The judgement by the memory. If nothing is against it, the pieces are in `pieces`.
/// @throws std::bad_alloc
[[nodiscard]] std::optional<reason> judge_memory(batch_call const& call, int ordinal,
                                                 std::vector<copy_piece>& pieces);

} // namespace barmap::memcpy_dropin
