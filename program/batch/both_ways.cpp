// SPDX-License-Identifier: MIT
#include "batch/batch_lane.hpp"

#include "kernels/batch_kernels.ptx.hpp"
#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "output/table.hpp"
#include "output/units.hpp"

#include <array>
#include <optional>
#include <thread>

namespace barmap::tool {
namespace {

constexpr copy_direction both_ways[] = {copy_direction::to_cpu, copy_direction::to_gpu};
constexpr std::array<std::string_view, 2> host_names{"d2h", "h2d"}, gpu_names{"there", "back"};

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
    std::vector<left_out> missing;
    for (std::string const& each : bench.values.methods)
        if (make_batch_method(each, bench.gpu, bench.kernels, missing))
            names.push_back(each);
    bench.tell(missing);
    progress bar(shapes.size() * names.size() * bench.values.orders.size());
    table rows({"both directions", "order", "method", formatted("{} GB/s", ways[0]),
                formatted("{} GB/s", ways[1]), "sum GB/s"});
    rows.left_from(6);
    bool good = true;
    for (batch_order const order : bench.orders())
        for (batch_shape const& shape : shapes)
            for (std::string const& name : names) {
                bar.step(formatted("both {} {}", name_of(order), shape.text()));
                std::array const lanes{
                    std::make_unique<batch_lane>(bench, pools, name, both_ways[0], order, shape),
                    std::make_unique<batch_lane>(way_back, pools, name, both_ways[1], order,
                                                 shape)};
                for (copy_direction const way : both_ways)
                    pools.clear(way, pools.size());
                run_lanes(lanes, [&] {
                    std::this_thread::sleep_for(std::chrono::duration<double>(seconds_of(bench)));
                });
                std::array<double, 2> const rates{lanes[0]->gigabytes_per_second(),
                                                  lanes[1]->gigabytes_per_second()};
                batch_faults faults;
                for (auto const& each : lanes) // to_cpu first: the check of to_gpu overwrites it
                    faults += pools.compare(each->way(), each->places(), pools.size());
                json row = object({{"measurement", "both"},
                                   {"order", name_of(order)},
                                   {"pieces", shape.pieces},
                                   {"size", shape.size},
                                   {"method", lanes[0]->name()}});
                for (std::size_t i = 0; i < rates.size(); ++i)
                    row[formatted("{}_gb_per_s", ways[i])] = rates[i];
                row["gb_per_s"] = rates[0] + rates[1];
                put(row, faults);
                bench.out.add(std::move(row));
                rows.row({shape.text(), std::string(name_of(order)), lanes[0]->name(),
                          formatted("{:.2f}", rates[0]), formatted("{:.2f}", rates[1]),
                          faults.none() ? formatted("{:.2f}", rates[0] + rates[1]) : "WRONG"});
                good &= faults.none();
            }
    bench.out.say(rows.text() + "\n");
    return good;
}

} // namespace barmap::tool
