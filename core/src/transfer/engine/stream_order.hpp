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

/// Whether a stream of the submission is being captured into a graph.
/// @throws error CUDA's; errc::unsupported_operation if only one of two streams may be
/// @pre there is a stream
[[nodiscard]] bool is_captured(stream_order const& order, CUdevice gpu);

/// Checks that the streams exist and belong to this GPU. @throws error CUDA's, errc::wrong_device
/// for a stream of another GPU
/// @pre a context of the GPU is current
void expect_usable(stream_order const& order, CUdevice gpu);

} // namespace barmap::engine
