// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/types.hpp"

#include <optional>

namespace barmap::cuda {

/// The GPU of a stream: that of the current context for a default stream. Nothing where CUDA does
/// not say.
[[nodiscard]] std::optional<CUdevice> gpu_of(CUstream stream) noexcept;

/// Whether a stream is of the GPU's primary context: events of that are not recorded on others.
[[nodiscard]] bool is_of_primary_context(CUstream stream, CUdevice gpu) noexcept;

} // namespace barmap::cuda
