// SPDX-License-Identifier: MIT
#include "output/formatted.hpp"
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
    measurement const what("rate", {column("ring", "direction"), "message",
                                    column("GPU's side", "gpu_side"), column("at once", "batch"),
                                    link_column(),
                                    column("M messages/s", "messages_per_s", fixed<3, 1'000'000>),
                                    column("GB/s", "gb_per_s", fixed<3>)});
    auto const measure_one = [&](results& into, bool under_load, ring_run const& run) {
        std::string_view const way = name_of(run.way);
        into.now(formatted("{} {} B {}", way, run.message, name_of(run.who)));
        ring_result const found = run_ring(bench, run);
        std::size_t const slot = slot_bytes(run.way, run.message);
        into.add(result_row({{"direction", way},
                             {"slot_bytes", slot},
                             {"message_bytes", run.message},
                             {"gpu_side", name_of(run.who)},
                             {"batch", run.batch},
                             {"slots", run.slots},
                             {"load", under_load},
                             {"messages", found.timed_messages},
                             {"seconds", found.seconds},
                             {"messages_per_s", found.per_second()},
                             {"gb_per_s", found.per_second() * run.message / 1e9}})
                     .with(found),
                 {formatted("{} in {} B", run.message, slot), found.good() ? "" : verdict(found)},
                 found.good());
    };
    auto const runs = every_ring_run(bench.values.slots, bench.messages(1'000'000, 2000));
    return bench.measure(what, every(runs), measure_one);
}

} // namespace barmap::tool
