// SPDX-License-Identifier: MIT
#pragma once

#include "base/config.hpp"

#include <cstddef>

/// A small batch that would wait for a large one much longer than it takes goes by an engine that
/// CUDA also uses: which is small, and which is large.
namespace barmap::engine {

[[nodiscard]] inline bool may_pass(std::size_t pieces, std::size_t bytes) noexcept {
    policy::values const& policy = config::current().policy;
    return pieces <= policy.passing_pieces && bytes <= policy.passing_bytes;
}

[[nodiscard]] inline bool is_passed(std::size_t pieces, std::size_t bytes) noexcept {
    policy::values const& policy = config::current().policy;
    return pieces / policy.passed_times >= policy.passing_pieces ||
           bytes / policy.passed_times >= policy.passing_bytes;
}

} // namespace barmap::engine
