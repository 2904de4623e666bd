// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

template <class Copy>
double ns_per_copy(Copy const& copy, std::size_t bytes, unsigned calls) {
    auto const start = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < calls; ++i)
        copy(bytes);
    std::chrono::duration<double, std::nano> const took = std::chrono::steady_clock::now() - start;
    return took.count() / calls;
}

/// How long each of these takes for so many bytes: the median over the rounds of the round's
/// fastest batch, in ns per copy. They take turns, batch by batch. Copy: called with a size.
template <class Copy>
std::vector<double> taking_turns(std::vector<Copy> const& copies, std::size_t bytes,
                                 unsigned rounds) {
    constexpr double batch_ns = 20'000;
    constexpr unsigned batches = 10;
    double const estimate = ns_per_copy(copies[0], bytes, 3);
    unsigned const calls = static_cast<unsigned>(std::max(1.0, batch_ns / estimate));
    std::vector<std::vector<double>> fastest(copies.size());
    for (unsigned round = 0; round < rounds; ++round) {
        std::vector<double> best(copies.size(), 1e18);
        for (unsigned batch = 0; batch < batches; ++batch)
            for (std::size_t i = 0; i < copies.size(); ++i) {
                std::size_t const which = (i + batch) % copies.size();
                best[which] = std::min(best[which], ns_per_copy(copies[which], bytes, calls));
            }
        for (std::size_t i = 0; i < copies.size(); ++i)
            fastest[i].push_back(best[i]);
    }
    std::vector<double> medians;
    for (std::vector<double>& each : fastest) {
        std::nth_element(each.begin(), each.begin() + each.size() / 2, each.end());
        medians.push_back(each[each.size() / 2]);
    }
    return medians;
}
