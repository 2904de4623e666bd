// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/engine/engine.hpp"

/// Memory by the addresses that CUDA knows, for engines that copy between those.
namespace barmap::engine {

/// GPU memory. Nothing holds it: is_unchanged() says whether it is still there. @throws error
[[nodiscard]] std::unique_ptr<reachable> reach_by_cuda(cuda::memory const& memory);

/// Pages that CUDA pins for as long as the result lives. @throws error
[[nodiscard]] std::unique_ptr<reachable> reach_by_cuda(CUdevice device, std::span<std::byte> pages);

/// Memory that CUDA has pinned already.
[[nodiscard]] std::unique_ptr<reachable> reach_pinned_by_cuda(std::span<std::byte> memory);

} // namespace barmap::engine
