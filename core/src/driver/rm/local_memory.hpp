// SPDX-License-Identifier: MIT
#pragma once

#include "driver/rm/cuda_memory.hpp"

#include <cstddef>
#include <memory>

namespace barmap::rm {

/// Page size of GPU memory that a client allocates, bytes.
inline constexpr std::size_t local_page = std::size_t{2} << 20;

/// Contiguous GPU memory without CUDA's knowledge. It holds what its last user left there.
/// @param bytes a multiple of local_page. @throws error
[[nodiscard]] memory_object allocate_local(std::shared_ptr<client const> const& owner,
                                           std::size_t bytes);

} // namespace barmap::rm
