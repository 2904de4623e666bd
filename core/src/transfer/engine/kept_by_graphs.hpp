// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <memory>

namespace barmap::engine {

/// If the stream is being captured, has the graph keep this: until CUDA has destroyed the graph and
/// all that was cloned or instantiated from it, and the last replay has ended. A thread of the
/// library then drops it. Does nothing for other streams.
/// @return whether it is being captured @throws error
/// @pre a context of the stream's GPU is current
bool keep_if_captured(CUstream stream, std::shared_ptr<void const> const& what);

} // namespace barmap::engine
