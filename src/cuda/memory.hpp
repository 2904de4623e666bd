// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/types.hpp"
#include "os/fd.hpp"

#include <barmap/backend.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace barmap::cuda {

/// A part of one allocation (of one VMM chunk, where several make up a range).
struct chunk {
    CUdeviceptr base = 0;     ///< where the allocation starts
    std::size_t capacity = 0; ///< its size as the driver tells it, bytes
    std::size_t offset = 0;   ///< of the wanted part inside it
    std::size_t length = 0;   ///< of the wanted part
};

/// What a GPU address range is made of.
struct memory {
    memory_kind kind = memory_kind::unknown;
    CUdeviceptr address = 0;
    std::size_t size = 0;
    int ordinal = -1;            ///< CUDA ordinal of the GPU that owns it
    CUcontext context = nullptr; ///< that it belongs to; null for VMM and pool memory
    std::vector<chunk> chunks;   ///< in address order, without gaps; empty unless adoptable
    std::shared_ptr<os::fd const> exported; ///< what imported memory was imported from, if known
};

/// Finds out what is at [address, address + bytes).
/// @throws error errc::invalid_argument (0 bytes, null, or the range wraps around),
///         errc::out_of_range if it leaves the allocation or the run of chunks
[[nodiscard]] memory describe(CUdeviceptr address, std::size_t bytes);

/// A new file descriptor for the physical memory of a VMM chunk with a POSIX-fd handle type.
/// @throws error
[[nodiscard]] os::fd export_chunk(chunk const& chunk, std::string_view backend);

/// What to do instead, for memory of a kind that nothing can map. One sentence.
[[nodiscard]] std::string_view advice_for(memory_kind kind) noexcept;

} // namespace barmap::cuda
