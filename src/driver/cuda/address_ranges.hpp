// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/types.hpp"

#include <cstddef>
#include <vector>

namespace barmap::cuda {

/// Whose memory an address is.
enum class memory_side {
    unknown, ///< no live allocation that CUDA knows
    gpu,
    host,
    both ///< managed memory
};

/// Addresses that CUDA gave to one allocation, or to several that touch.
struct address_range {
    CUdeviceptr begin = 0;
    std::size_t bytes = 0;
    memory_side side = memory_side::unknown;

    [[nodiscard]] bool holds(CUdeviceptr address) const noexcept { return address - begin < bytes; }
};

/// Asks the driver. Where nothing is known, one address is the range.
[[nodiscard]] address_range find_range(CUdeviceptr address) noexcept;

/// Remembers the ranges that it was asked for, so that many addresses in few allocations cost few
/// calls of the driver. What is freed meanwhile stays remembered: find() tells what was there once,
/// and find_again() what is there now.
class address_ranges {
public:
    [[nodiscard]] address_range find(CUdeviceptr address);
    address_range find_again(CUdeviceptr address);

private:
    static constexpr std::size_t most = 4096;
    std::vector<address_range> known_; ///< in the order of their addresses; they do not overlap
};

} // namespace barmap::cuda
