// SPDX-License-Identifier: MIT
#include "system/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace barmap::os {
namespace {

/// The number of letters to insert, delete or replace, or of neighbours to exchange.
std::size_t distance(std::string_view from, std::string_view to) {
    std::size_t const width = to.size() + 1;
    std::vector<std::size_t> cost((from.size() + 1) * width);
    auto const at = [&](std::size_t i, std::size_t k) -> std::size_t& {
        return cost[i * width + k];
    };
    for (std::size_t i = 0; i <= from.size(); ++i) {
        for (std::size_t k = 0; k <= to.size(); ++k) {
            if (i == 0 || k == 0) {
                at(i, k) = i + k;
                continue;
            }
            std::size_t const replaced = at(i - 1, k - 1) + (from[i - 1] != to[k - 1]);
            at(i, k) = std::min({replaced, at(i - 1, k) + 1, at(i, k - 1) + 1});
            if (i > 1 && k > 1 && from[i - 1] == to[k - 2] && from[i - 2] == to[k - 1])
                at(i, k) = std::min(at(i, k), at(i - 2, k - 2) + 1);
        }
    }
    return at(from.size(), to.size());
}

} // namespace

std::string_view nearest(std::string_view typed, std::span<std::string_view const> names) {
    std::size_t least = typed.size() < 6 ? 1 : 2;
    std::string_view best;
    for (std::string_view const name : names) {
        std::size_t const found = distance(typed, name);
        if (found < least || (found == least && best.empty())) {
            least = found;
            best = name;
        }
    }
    return best;
}

} // namespace barmap::os
