// SPDX-License-Identifier: MIT
#include "batch/batch_lane.hpp"

#include "kernels/batch_kernels.ptx.hpp"
#include "output/formatted.hpp"
#include "output/units.hpp"

#include <array>
#include <optional>
#include <thread>

namespace barmap::tool {
namespace {

constexpr std::array<std::string_view, 2> host_names{"d2h", "h2d"}, gpu_names{"there", "back"};

std::string rate_of(std::string_view way) {
    return formatted("{}_gb_per_s", way);
}

/// The measuring time of a method and a shape.
double seconds_of(batch_bench const& bench) {
    return 4 * bench.values.budget_s;
}

} // namespace

bool measure_both_ways(batch_bench const& bench) {
    std::vector<batch_shape> const shapes = shapes_of(bench.values, {1024}, {4 * KiB, 64 * KiB});
    batch_pools pools = bench.pools(bench.values.pool);
    // Each of two GPUs copies to the other.
    std::optional<gpu_kernels> kernels;
    std::optional<batch_bench> of_peer;
    if (bench.values.between == "peer") {
        cuda::context_scope const scope = bench.other->enter();
        kernels.emplace(ptx::batch_kernels);
        of_peer.emplace(batch_bench{bench.out, *bench.other, *kernels, bench.values, bench.other});
    }
    batch_bench const& way_back = of_peer ? *of_peer : bench;
    auto const& ways = bench.values.between == "host" ? host_names : gpu_names;
    std::vector<std::string> names;
    for (named_method const& each : bench.methods())
        names.push_back(each.name);
    measurement const what(
        "both", {"both directions", column("order", "order"), column("method", "method"),
                 column(formatted("{} GB/s", ways[0]), rate_of(ways[0]), fixed<2>),
                 column(formatted("{} GB/s", ways[1]), rate_of(ways[1]), fixed<2>), "sum GB/s"});
    auto const measure_one = [&](results& into, batch_order order, batch_shape const& shape,
                                 std::string const& name) {
        into.now(formatted("both {} {}", name_of(order), shape.text()));
        std::array const lanes{
            std::make_unique<batch_lane>(bench, pools, name, copy_direction::to_cpu, order, shape),
            std::make_unique<batch_lane>(way_back, pools, name, copy_direction::to_gpu, order,
                                         shape)};
        lanes_found const ran = run_lanes(lanes, pools, [&] {
            std::this_thread::sleep_for(std::chrono::duration<double>(seconds_of(bench)));
        });
        double const sum = ran.rates[0] + ran.rates[1];
        into.add(result_row({{"order", name_of(order)}})
                     .with(shape)
                     .has("method", lanes[0]->name())
                     .has(rate_of(ways[0]).c_str(), ran.rates[0])
                     .has(rate_of(ways[1]).c_str(), ran.rates[1])
                     .has("gb_per_s", sum)
                     .with(ran.faults),
                 {shape.text(), rate_or_wrong(sum, ran.faults)}, ran.faults.none());
    };
    return measure(bench.out, what, every(bench.orders(), shapes, names), measure_one);
}

} // namespace barmap::tool
