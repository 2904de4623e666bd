// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <cstddef>

namespace barmap::memcpy_dropin {

/// The arguments of a call of cuMemcpyBatchAsync, of either version.
struct batch_call {
    CUdeviceptr const* to;
    CUdeviceptr const* from;
    std::size_t const* bytes;
    std::size_t count;
    CUmemcpyAttributes const* attributes;
    std::size_t const* first_of; ///< the first piece that each attribute is for
    std::size_t attribute_count;
    CUstream stream;
};

} // namespace barmap::memcpy_dropin
