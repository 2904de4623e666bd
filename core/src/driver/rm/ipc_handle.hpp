// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <cstdint>

namespace barmap::rm {

/// The description of an allocation in a CUDA IPC handle. Its layout is not documented: these
/// offsets were found on driver 580.159.04 and are verified at every start-up by the backend's
/// self-test, and for every pin against what cuPointerGetAttributes says of the pointer's range
/// (RANGE_START_ADDR and RANGE_SIZE).
struct ipc_fields {
    std::uint64_t pid;           ///< offset 8: the process that owns the allocation
    std::uint64_t size;          ///< offset 16: bytes, as asked for
    std::uint32_t object_pages;  ///< offset 24: size of the backing object in 4 KiB pages
    std::uint32_t object_offset; ///< offset 28: of the allocation in its object, bytes
    std::uint32_t gpu_id;        ///< offset 32: RM's id of the GPU
    std::uint32_t client;        ///< offset 48: RM client of the owner
    std::uint32_t memory;        ///< offset 52: RM memory object
};

[[nodiscard]] ipc_fields parse(CUipcMemHandle const& handle) noexcept;

} // namespace barmap::rm
