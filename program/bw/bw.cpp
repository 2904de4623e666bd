// SPDX-License-Identifier: MIT
#include "bw/copy_team.hpp"
#include "command/exit_codes.hpp"
#include "measure/compared_copies.hpp"
#include "output/formatted.hpp"
#include "output/results.hpp"
#include "output/units.hpp"

#include <algorithm>
#include <iterator>

namespace barmap::tool {
namespace {

/// Samples of one transfer that the whole team does together.
samples measure_team(copy_team& team, copy_direction way, std::size_t bytes,
                     options const& values) {
    double about = team.transfer(way, bytes, 1);
    unsigned const operations = operations_per_sample(about);
    samples taken(operations);
    for (repetitions rounds(values.iterations, values.budget_s); rounds.next();)
        taken.add(team.transfer(way, bytes, operations));
    return taken;
}

int measure_bandwidth(options const& values) {
    report out(values);
    opened_gpu const gpu(values.device);
    cuda::context_scope const scope = gpu.enter();
    std::vector<std::size_t> const sizes = sizes_to_measure(values, 4 * KiB);
    std::size_t const largest = *std::max_element(sizes.begin(), sizes.end());
    reached_memory const target = reach(gpu, values, largest);
    copy_team team(values.threads, target.mapping.window());
    out.about(gpu.device(), target.mapping.backend());
    out.say(formatted("{}, {} memory by {}, {} thread{}\n", title_of(gpu.device()), values.memory,
                      target.mapping.backend(), values.threads, values.threads == 1 ? "" : "s"));
    measurement const what("bandwidth",
                           {"size", "h2d p50 us", "GB/s", "best GB/s", "routine", "d2h p50 us",
                            "GB/s", "best GB/s", "routine"},
                           "", "");
    progress bar(sizes.size() * std::size(both_directions));
    measure(
        out, what, every(sizes),
        [&](results& into, std::size_t bytes) {
            std::vector<std::string> cells{size_text(bytes)};
            for (copy_direction const way : both_directions) {
                into.now(formatted("{} {}", name_of(way), size_text(bytes)));
                summary const times = measure_team(team, way, bytes, values).summarise();
                std::size_t const share = team.share(bytes);
                std::string const routine{way == copy_direction::to_gpu
                                              ? target.mapping.store_routine(share)
                                              : target.mapping.load_routine(share)};
                double const rate = gigabytes_per_second(bytes, times.p50_ns);
                into.add_row(result_row({{"direction", name_of(way)},
                                         {"size", bytes},
                                         {"threads", values.threads},
                                         {"routine", routine}})
                                 .with(times)
                                 .has("gb_per_s", rate));
                cells.insert(cells.end(),
                             {microseconds(times.p50_ns), formatted("{:.2f}", rate),
                              formatted("{:.2f}", gigabytes_per_second(bytes, times.min_ns)),
                              routine});
            }
            into.add_line(std::move(cells));
        },
        &bar);
    return out.finish();
}

} // namespace

void add_bw(command_line& program) {
    subcommand app = program.add("bw", "Measure the bandwidth of copies");
    auto values = std::make_shared<options>();
    values->max = 64 * MiB;
    values->budget_s = 0.2;
    add_target_options(app, *values);
    add_measuring_options(app, *values);
    add_threads_option(app, *values, "threads that share one mapping");
    add_output_options(app, *values);
    app.footer({.remark = "One transfer is shared among threads: each copies its own part of the "
                          "one mapping. A sample runs from the common start to the last thread's "
                          "end. Gigabytes are 10^9 bytes.",
                .exit_codes = {"0 done", usage_help, unavailable_help},
                .examples = {"# One thread, then eight", "barmap bw --max 16M",
                             "barmap bw --max 16M --threads 8"}});
    when_chosen(app, values, measure_bandwidth);
}

} // namespace barmap::tool
