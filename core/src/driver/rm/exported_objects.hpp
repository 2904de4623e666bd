// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"
#include "nvidia/rm.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace barmap::rm {

/// The objects of CUDA's client that a range of GPU addresses consists of, as libcuda reports them
/// to the kernel driver when it exports the range as a dma-buf.
struct exported_objects {
    struct part {
        abi::handle object;
        std::uint64_t offset; ///< of the part's first byte in the object
        std::uint64_t bytes;
    };
    abi::handle client = 0;   ///< CUDA's
    std::uint32_t in_all = 0; ///< objects of the range, of which `parts` has the first ones
    std::vector<part> parts;  ///< in the order of the addresses, at least one

    /// Asks libcuda to export the range, reads the ioctl of that export, and refuses it in the
    /// kernel's place: nothing is exported, and nothing is left. About 1 us. The range must be
    /// whole pages of the CPU, and the calling thread must have a current context.
    ///
    /// For a range that begins inside an object larger than the range, libcuda 580.159.04 miscounts
    /// `bytes` of all parts, and `offset` of all but the first one.
    /// @return nothing if libcuda does not name them: it knows no such memory, or the GPU offers no
    ///         dma-bufs; or if libcuda cannot be watched
    [[nodiscard]] static std::optional<exported_objects> of(CUdeviceptr from, std::size_t bytes);
};

} // namespace barmap::rm
