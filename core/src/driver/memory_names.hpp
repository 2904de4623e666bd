// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <cstdint>
#include <optional>

namespace barmap::cuda {

/// The resource manager's names for a piece of CUDA's memory. They show that CUDA was checkpointed
/// and restored: its memory is then at the same addresses, with the same buffer ids, in the same
/// contexts, but in other objects of another client, and CUDA does not report it.
struct memory_names {
    std::uint32_t client, memory;
    unsigned long long buffer; ///< CUDA's id, which no later allocation has

    /// The names of memory of this process that begins at a page: cudaMalloc's, or a pool's where
    /// libcuda exports it.
    /// @return nothing where it cannot be told: the memory is gone, or its context
    [[nodiscard]] static std::optional<memory_names> of(CUdevice device, CUdeviceptr address);

    /// Whether these show that CUDA was restored since the others were read. The client is the
    /// process's; the objects are compared if both are of one allocation.
    [[nodiscard]] bool are_later_than(memory_names const& before) const noexcept {
        return client != before.client || (buffer == before.buffer && memory != before.memory);
    }
};

} // namespace barmap::cuda
