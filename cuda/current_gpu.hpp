// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <optional>

/// Thread rule: every function may be called at once.
namespace barmap::cuda {

/// The ordinal of the GPU with this handle; nothing if CUDA shows no such GPU to this process.
/// @pre the driver is there
[[nodiscard]] std::optional<int> ordinal_with(CUdevice handle) noexcept;

/// The ordinal of the GPU of the calling thread's context; nothing if the thread has none, or if there
/// is no driver. Makes no context.
[[nodiscard]] std::optional<int> current_ordinal();

} // namespace barmap::cuda
