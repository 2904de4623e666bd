// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace barmap::engine {

/// Whether an engine, by its name, holds memory that another thread may give to cudaFree during a
/// copy. Copies by a mapping of such memory use no other engine, whatever is faster.
[[nodiscard]] bool holds_cuda_malloc(std::string_view engine) noexcept;

} // namespace barmap::engine
