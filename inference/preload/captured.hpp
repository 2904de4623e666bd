// SPDX-License-Identifier: MIT
#pragma once

#include "batch_call.hpp"

#include <cstddef>
#include <optional>

namespace barmap::memcpy_dropin {

/// CUDA's answer to a batch in a stream that is being captured. The capture continues without
/// it, so that a program that does not look at the answer has a graph that copies nothing.
inline constexpr CUresult capture_unsupported = 900;

/// Makes a batch that CUDA has so refused nodes of the graph: one kernel that submits all pieces,
/// if such a batch were taken in a stream, and there are kernel queues; else a copy node for each
/// piece. Nothing: the batch is in no graph. Thread rule: may be called at once.
/// @param failed the piece that CUDA refuses: those before it are in the graph; 0 where an earlier
///        batch has failed; else left as it is
[[nodiscard]] std::optional<CUresult> capture(batch_call const& call, std::size_t& failed) noexcept;

} // namespace barmap::memcpy_dropin
