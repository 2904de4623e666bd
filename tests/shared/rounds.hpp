// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdlib>

namespace barmap::test {

/// How often a test repeats itself: ENGINE_TEST_ROUNDS times as often, for a long run.
[[nodiscard]] inline std::size_t rounds(std::size_t usual) {
    char const* const factor = std::getenv("ENGINE_TEST_ROUNDS");
    return usual * (factor ? std::strtoull(factor, nullptr, 10) : 1);
}

} // namespace barmap::test
