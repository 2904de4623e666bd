// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"
#include "system/fd.hpp"

#include <barmap/types.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::cuda {

/// A part of one allocation (of one VMM chunk, where several make up a range). Where whole GPU
/// pages are wanted, also what else lies in the allocation's first and last page.
struct allocation_part {
    CUdeviceptr base = 0;     ///< where the allocation starts
    std::size_t capacity = 0; ///< its size as the driver reports it, bytes
    std::size_t offset = 0;   ///< of the wanted part inside it
    std::size_t length = 0;   ///< of the wanted part
    std::size_t before = 0;   ///< bytes before the allocation that are also wanted
    std::size_t after = 0;    ///< bytes behind it that are also wanted

    /// All that is wanted, as addresses.
    [[nodiscard]] CUdeviceptr start() const noexcept { return base + offset - before; }
    [[nodiscard]] std::size_t extent() const noexcept { return before + length + after; }
};

/// The memory behind a GPU address range.
struct memory {
    memory_kind kind = memory_kind::unknown;
    CUdeviceptr address = 0;
    std::size_t size = 0;
    int ordinal = -1;            ///< CUDA ordinal of the GPU that owns it
    CUcontext context = nullptr; ///< that it belongs to; null for VMM and pool memory
    std::vector<allocation_part>
        chunks; ///< in address order, without gaps; empty unless it can be registered
    std::shared_ptr<os::fd const> exported;   ///< what imported memory was imported from, if known
    std::optional<CUipcMemHandle> ipc_handle; ///< of memory without an address in this process
};

/// Finds out what is at [address, address + bytes).
/// @param operation what a refusal of the range says could not be done with these bytes
/// @throws error errc::invalid_argument (0 bytes, null, or the range wraps around),
///         errc::out_of_range if it leaves the allocation or the contiguous chunks
[[nodiscard]] memory describe(CUdeviceptr address, std::size_t bytes,
                              std::string_view operation = "pin");

/// Finds out what is in the GPU pages (of gpu_page_size bytes) that [address, address + bytes)
/// touches, as GPUDirect RDMA does: the range may start or end outside of every allocation, if only
/// each of its pages holds part of one. Small allocations that share a page share the memory object
/// behind it, so that one of them is enough to reach the whole page.
/// @throws error as describe(), errc::out_of_range for a page without any allocation
[[nodiscard]] memory describe_pages(CUdeviceptr address, std::size_t bytes,
                                    std::string_view operation = "pin");

/// CUDA's number of the allocation at an address: no two of a process have the same, whatever lies
/// where. 0 where there is none.
[[nodiscard]] unsigned long long allocation_id(CUdeviceptr address) noexcept;

/// A new file descriptor for the physical memory of a VMM chunk with a POSIX-fd handle type.
/// @throws error
[[nodiscard]] os::fd export_chunk(allocation_part const& chunk);

/// The range in words, as operations of errors name it: "8 bytes at 0x10".
[[nodiscard]] std::string range_text(CUdeviceptr address, std::size_t bytes);

/// Advice for memory of a kind that no backend can map. One sentence.
[[nodiscard]] std::string_view advice_for(memory_kind kind) noexcept;

} // namespace barmap::cuda
