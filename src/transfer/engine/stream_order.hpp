// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/types.hpp"

#include <chrono>
#include <optional>

namespace barmap::engine {

/// The order of a submission relative to CUDA streams.
struct stream_order {
    std::optional<CUstream> after, then;
    std::optional<std::chrono::nanoseconds> at_most; ///< how long it may wait for `after`
};

/// @throws error if CUDA says that a call for a stream has failed
void check_stream(CUresult result);

/// Whether its streams are there, of this GPU, and take a submission. @throws error what CUDA says,
/// errc::wrong_device for one of another GPU, errc::unsupported_operation for one that is being
/// captured into a graph
/// @pre a context of the GPU is current
void expect_usable(stream_order const& order, CUdevice gpu);

} // namespace barmap::engine
