// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <cstddef>
#include <vector>

namespace barmap::cuda {

/// Whose memory an address is, as one GPU sees it.
enum class memory_side {
    unknown, ///< no live allocation that CUDA knows
    gpu,     ///< its own
    peer,    ///< another GPU's, mapped for it
    apart,   ///< another GPU's, not mapped for it
    host,
    both ///< managed memory
};

/// Addresses that CUDA gave to one allocation, or to several that touch.
struct address_range {
    CUdeviceptr begin = 0;
    std::size_t bytes = 0;
    memory_side side = memory_side::unknown;
    int ordinal = -1;        ///< of the GPU that has it, in CUDA's count; -1 where none does
    bool is_settled = false; ///< was asked for twice, and need not be again

    [[nodiscard]] bool holds(CUdeviceptr address) const noexcept { return address - begin < bytes; }
};

/// Asks the driver. Where nothing is known, one address is the range.
[[nodiscard]] address_range find_range(CUdevice of, CUdeviceptr address) noexcept;

/// Whether this process has more GPUs than one: without, no memory is another one's.
[[nodiscard]] bool has_several_gpus() noexcept;

/// Remembers the ranges that it was asked for, as one GPU sees them, so that many addresses in few
/// allocations cost few calls of the driver. A free invalidates no entry: find() may be stale, and
/// find_again() asks the driver. Addresses that may soon be allocated or mapped are not remembered.
class address_ranges {
public:
    explicit address_ranges(CUdevice of) noexcept : gpu_(of) {}

    [[nodiscard]] CUdevice gpu() const noexcept { return gpu_; }
    [[nodiscard]] address_range find(CUdeviceptr address);
    address_range find_again(CUdeviceptr address);
    /// From now on, find() says of the range that has the address that it is settled.
    void settle(CUdeviceptr address);

private:
    using ranges = std::vector<address_range>;
    [[nodiscard]] ranges::iterator remembered(CUdeviceptr address);

    CUdevice gpu_;
    static constexpr std::size_t most = 4096;
    ranges known_; ///< in the order of their addresses; they do not overlap
};

} // namespace barmap::cuda
