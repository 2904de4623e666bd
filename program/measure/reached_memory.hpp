// SPDX-License-Identifier: MIT
#pragma once

#include "measure/gpu_memory.hpp"
#include "command/options.hpp"

#include <barmap/mapping.hpp>
#include <barmap/pin.hpp>

#include <cstddef>

namespace barmap::tool {

/// GPU memory with CPU addresses, made the way the options ask for.
struct reached_memory {
    gpu_memory memory;
    barmap::pin pin;
    barmap::mapping mapping;
};

/// Allocates, pins and maps; forces the copy routine if one is asked for. Needs the GPU's context.
/// @throws error
[[nodiscard]] reached_memory reach(opened_gpu const& gpu, options const& values, std::size_t bytes);

/// Forces the copy routine if one is asked for. @throws error
void use_routine(mapping& of, options const& values);

} // namespace barmap::tool
