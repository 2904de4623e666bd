// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <chrono>
#include <optional>

namespace barmap::engine {

/// The order of a submission relative to CUDA streams.
struct stream_order {
    std::optional<CUstream> after, then;
    std::optional<std::chrono::nanoseconds> at_most; ///< how long it may wait for `after`
};

/// @throws error if a CUDA call for a stream has failed
void check_stream(CUresult result);

/// Checks that the streams exist, belong to this GPU and accept a submission. @throws error CUDA's,
/// errc::wrong_device for a stream of another GPU, errc::unsupported_operation for one that a graph
/// captures
/// @pre a context of the GPU is current
void expect_usable(stream_order const& order, CUdevice gpu);

} // namespace barmap::engine
