// SPDX-License-Identifier: MIT
#include "output/timing.hpp"

#include <algorithm>

namespace barmap::tool {

double clock_cost_ns() {
    static double const cost = [] {
        std::vector<double> costs;
        for (int i = 0; i < 2001; ++i) {
            clock::time_point const begin = clock::now();
            costs.push_back(nanoseconds_since(begin));
        }
        std::nth_element(costs.begin(), costs.begin() + 1000, costs.end());
        return costs[1000];
    }();
    return cost;
}

summary samples::summarise() const {
    if (values_.empty())
        return {};
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    auto const quantile = [&](double q) {
        return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
    };
    summary result;
    result.min_ns = sorted.front();
    result.p50_ns = quantile(0.5);
    result.p90_ns = quantile(0.9);
    result.p99_ns = quantile(0.99);
    result.p99_9_ns = quantile(0.999);
    result.max_ns = sorted.back();
    result.samples = sorted.size();
    result.operations_per_sample = operations_;
    return result;
}

void put(json& row, summary const& times) {
    row["min_ns"] = times.min_ns;
    row["p50_ns"] = times.p50_ns;
    row["p99_ns"] = times.p99_ns;
    row["samples"] = times.samples;
    row["operations_per_sample"] = times.operations_per_sample;
}

void put_tail(json& row, summary const& times) {
    put(row, times);
    row["p90_ns"] = times.p90_ns;
    row["p99_9_ns"] = times.p99_9_ns;
    row["max_ns"] = times.max_ns;
}

} // namespace barmap::tool
