// SPDX-License-Identifier: MIT
#include "output/formatted.hpp"
#include "ring/ring_bench.hpp"

#include <barmap/ring.hpp>

#include <algorithm>
#include <array>

namespace barmap::tool {
namespace {

struct push_cost {
    samples times;
    bool good;
};

/// Pushes bursts into a ring that is never full, and times nothing but the pushes.
template <unsigned Bytes>
push_cost cost_of_pushes(ring_bench const& bench, std::size_t burst, std::size_t count) {
    ring_to_gpu<sealed_message<Bytes>> ring(bench.memory, bench.values.slots);
    ring_kernel kernel(bench, formatted("barmap_ring_sink_warp_{}", Bytes), 1, ring_kernel::lanes);
    kernel.launch({0, 0, ring_kernel::nanoseconds}, [&] { ring.close(); }, {ring.handle()});
    // Credits come for a quarter at a time, so that less than that may seem to be left.
    std::size_t const empty = gpu::detail::quarter_of(bench.values.slots - 1);
    std::uint64_t pushed = 0;
    push_cost cost{samples(static_cast<unsigned>(burst)), true};
    cost.times.reserve(count);
    std::size_t const warm_up = count / 10 + 1;
    for (std::size_t i = 0; i < count + warm_up; ++i) {
        ring.flush(); // nothing of the last burst is left in the CPU
        wait_until([&] { return ring.depth() < empty || ring.closed(); }, "room in the ring");
        std::uint64_t refused = 0;
        double const each = time_of(static_cast<unsigned>(burst), [&] {
            for (std::size_t k = 0; k < burst; ++k)
                refused += ring.try_push(make_sealed<Bytes>(pushed + k)) ? 0 : 1;
        });
        pushed += burst - refused;
        if (i >= warm_up)
            cost.times.add(each);
        cost.good &= refused == 0;
    }
    ring.close();
    ring_findings const read = sum_of(kernel.wait());
    cost.good &= read.count == pushed && faults_of(read) == 0;
    return cost;
}

struct push_size {
    unsigned message;
    push_cost (*measure)(ring_bench const&, std::size_t, std::size_t);
};

constexpr push_size push_sizes[] = {{32, cost_of_pushes<32>},
                                    {56, cost_of_pushes<56>},
                                    {112, cost_of_pushes<112>},
                                    {224, cost_of_pushes<224>}};

} // namespace

bool measure_ring_pushes(ring_bench const& bench) {
    // Single ones, a few, and as many that the CPU's buffers are full.
    std::vector<std::size_t> bursts{1};
    for (std::size_t const each : {std::size_t{16}, bench.values.slots / 2})
        if (each > bursts.back() && each <= bench.values.slots / 2)
            bursts.push_back(each);
    measurement const what("push", {"try_push", column("burst", "burst"), link_column(), ns("min"),
                                    ns("p50"), ns("p90"), ns("p99"), ns("p99.9")});
    auto const measure_one = [&](results& into, bool under_load, push_size const& size,
                                 std::size_t burst) {
        into.now(formatted("try_push {} B, bursts of {}", size.message, burst));
        std::uint64_t const all = bench.messages(1'000'000, 2000);
        std::size_t const count =
            std::clamp<std::uint64_t>(burst == 1 ? all / 10 : all / burst, 10, 100'000);
        push_cost const found = size.measure(bench, burst, count);
        into.add(result_row({{"direction", "h2d"},
                             {"message_bytes", size.message},
                             {"burst", burst},
                             {"slots", bench.values.slots},
                             {"load", under_load}})
                     .with_tail(found.times.summarise())
                     .has("passed", found.good),
                 {formatted("{} B", size.message),
                  found.good ? "" : "FAILED: messages were wrong or refused"},
                 found.good);
    };
    return bench.measure(what, every(push_sizes, bursts), measure_one);
}

} // namespace barmap::tool
