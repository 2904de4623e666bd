// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/types.hpp"
#include "driver/rm/rm_abi.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace barmap::rm {

/// What libcuda tells the kernel driver about a range of GPU addresses when it exports the range as
/// a dma-buf: which objects of CUDA's client it consists of.
struct exported_objects {
    struct part {
        abi::handle object;
        std::uint64_t offset; ///< of the part's first byte in the object
        std::uint64_t bytes;
    };
    abi::handle client = 0;   ///< CUDA's
    std::uint32_t in_all = 0; ///< objects of the range, of which `parts` has the first ones
    std::vector<part> parts;  ///< in the order of the addresses, at least one

    /// Asks libcuda to export the range, reads the ioctl by which it does so, and answers it with a
    /// refusal in the kernel's place: nothing is exported, and nothing is left. About 1 us. The
    /// range is whole pages of the CPU, and a context is current on the calling thread.
    ///
    /// Of a range that begins inside an object larger than the range, libcuda 580.159.04 miscounts
    /// `bytes` of all parts, and `offset` of all but the first one.
    /// @return nothing where libcuda does not come to name them: it knows no such memory, or the
    ///         GPU offers no dma-bufs; or libcuda cannot be watched
    [[nodiscard]] static std::optional<exported_objects> of(CUdeviceptr from, std::size_t bytes);
};

} // namespace barmap::rm
