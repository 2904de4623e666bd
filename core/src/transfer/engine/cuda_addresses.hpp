// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/engine/engine.hpp"

/// Memory at CUDA's addresses, for engines that copy between these.
namespace barmap::engine {

/// GPU memory, without a reference to it: is_unchanged() reports whether it still exists. @throws
/// error
[[nodiscard]] std::unique_ptr<reachable> reach_by_cuda(cuda::memory const& memory);

/// VMM memory, at addresses that nobody else knows: it stays there when the program frees it.
/// @return null for memory of any other kind. @throws error
[[nodiscard]] std::unique_ptr<reachable> hold_by_cuda(CUdevice gpu, cuda::memory const& memory);

/// Pages of this process, pinned by CUDA while the result lives. @throws error
[[nodiscard]] std::unique_ptr<reachable> reach_by_cuda(CUdevice device, std::span<std::byte> pages);

/// Memory that CUDA has pinned already.
[[nodiscard]] std::unique_ptr<reachable> reach_pinned_by_cuda(std::span<std::byte> memory);

} // namespace barmap::engine
