// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace barmap::dropin {

/// Numbers that look random and are the same for the same seed (splitmix64).
class random {
public:
    explicit random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15u;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        return mixed ^ (mixed >> 31);
    }

    /// Less than `end`, which is not 0.
    std::uint64_t below(std::uint64_t end) { return next() % end; }

    /// True in so many of a hundred cases.
    bool percent(unsigned cases) { return below(100) < cases; }

    template <class List>
    auto const& one_of(List const& list) {
        return list[below(std::size(list))];
    }

private:
    std::uint64_t state_;
};

} // namespace barmap::dropin
