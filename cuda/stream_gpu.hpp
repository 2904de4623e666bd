// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <optional>

namespace barmap::cuda {

/// The GPU of a stream: that of the current context for a default stream. Nothing where CUDA does
/// not say.
[[nodiscard]] std::optional<CUdevice> gpu_of(CUstream stream) noexcept;

/// The ordinal of that GPU.
[[nodiscard]] std::optional<int> ordinal_of(CUstream stream) noexcept;

/// The context of a stream, or null where CUDA does not say. Events of another one cannot be
/// recorded on it.
[[nodiscard]] CUcontext context_of(CUstream stream) noexcept;

} // namespace barmap::cuda
