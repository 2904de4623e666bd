// SPDX-License-Identifier: MIT
#pragma once

#include "map/backend.hpp"

namespace barmap {

/// All names and properties of a GPU that backends go by. Needs no CUDA context.
/// @throws error errc::no_device, or what CUDA reports
[[nodiscard]] backend::gpu identify(int ordinal);

} // namespace barmap
