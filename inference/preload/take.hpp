// SPDX-License-Identifier: MIT
#pragma once

#include "batch_call.hpp"

#include <optional>

namespace barmap::memcpy_dropin {

/// Copies a batch in the order of its stream, as cuMemcpyBatchAsync does. Nothing: the batch is the
/// driver's, and nothing of it has been done. Thread rule: may be called at once.
/// @pre CUDA's driver is loaded
[[nodiscard]] std::optional<CUresult> take(batch_call const& call) noexcept;

} // namespace barmap::memcpy_dropin
