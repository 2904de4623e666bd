// SPDX-License-Identifier: MIT
#pragma once

#include "measure/opened_gpu.hpp"
#include "output/report.hpp"
#include "output/units.hpp"
#include "command/options.hpp"

#include <cstddef>
#include <cstdint>

namespace barmap::tool {

struct stress_options : options {
    std::size_t operations = 100'000;
    std::size_t region = MiB;
    std::uint64_t seed = 1;
    std::uint64_t pieces = 100'000, pairs = 10'000; ///< by each engine
};

inline constexpr std::uint64_t most_engine_copies = 1'000'000'000'000;

/// The part of stress that uses each copy engine by itself. Needs the GPU's context.
/// @return whether every byte was right
[[nodiscard]] bool stress_engines(report& out, opened_gpu const& gpu, stress_options const& values);

} // namespace barmap::tool
