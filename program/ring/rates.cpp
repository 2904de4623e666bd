// SPDX-License-Identifier: MIT
#include "measure/link_load.hpp"
#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "output/table.hpp"
#include "output/units.hpp"
#include "ring/ring_bench.hpp"

namespace barmap::tool {
namespace {

std::vector<ring_run> every_ring_run(std::size_t slots, std::uint64_t messages) {
    std::vector<ring_run> all;
    for (unsigned const message : messages_to_gpu)
        for (ring_threads const who : {ring_threads::one, ring_threads::warp})
            for (unsigned const batch : {1u, 16u})
                all.push_back({copy_direction::to_gpu, message, who, slots, 0, messages, batch});
    for (unsigned const message : messages_to_cpu)
        for (ring_threads const who : {ring_threads::one, ring_threads::warp, ring_threads::many})
            all.push_back({copy_direction::to_cpu, message, who, slots, 0, messages, 1});
    return all;
}

} // namespace

bool measure_ring_rates(ring_bench const& bench) {
    std::vector<ring_run> const runs =
        every_ring_run(bench.values.slots, bench.messages(1'000'000, 2000));
    progress bar(runs.size() * bench.loads().size());
    table rows({"ring", "message", "GPU's side", "at once", "link", "M messages/s", "GB/s"});
    bool good = true;
    for (bool const under_load : bench.loads()) {
        auto const load = load_if(under_load, bench.gpu);
        for (ring_run const& run : runs) {
            std::string_view const way = name_of(run.way);
            bar.step(formatted("{} {} B {}", way, run.message, name_of(run.who)));
            ring_result const found = run_ring(bench, run);
            std::size_t const slot = slot_bytes(run.way, run.message);
            double const gigabytes = found.per_second() * run.message / 1e9;
            json row = object({{"measurement", "rate"},
                               {"direction", way},
                               {"slot_bytes", slot},
                               {"message_bytes", run.message},
                               {"gpu_side", name_of(run.who)},
                               {"batch", run.batch},
                               {"slots", run.slots},
                               {"load", under_load},
                               {"messages", found.timed_messages},
                               {"seconds", found.seconds},
                               {"messages_per_s", found.per_second()},
                               {"gb_per_s", gigabytes}});
            put(row, found);
            bench.out.add(std::move(row));
            rows.row({std::string(way), formatted("{} in {} B", run.message, slot),
                      std::string(name_of(run.who)), std::to_string(run.batch),
                      under_load ? "loaded" : "idle", formatted("{:.3f}", found.per_second() / 1e6),
                      formatted("{:.3f}", gigabytes), found.good() ? "" : verdict(found)});
            good &= found.good();
        }
    }
    bench.out.say(rows.text() + "\n");
    return good;
}

} // namespace barmap::tool
