// SPDX-License-Identifier: MIT
#include "lat/lat.hpp"

#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "output/table.hpp"
#include "output/units.hpp"
#include "command/exit_codes.hpp"

#include <algorithm>
#include <iterator>

namespace barmap::tool {
namespace {

struct lat_options : options {
    bool compare = false;
};

void tell_latencies(report& out, copy_direction way, std::vector<measured_size> const& sizes) {
    table rows({std::string(name_of(way)), "min us", "p50 us", "p99 us", "GB/s", "routine"});
    for (measured_size const& size : sizes) {
        measured_method const& one = size.methods.front();
        rows.row({size_text(size.bytes), microseconds(one.times.min_ns),
                  microseconds(one.times.p50_ns), microseconds(one.times.p99_ns),
                  formatted("{:.2f}", gigabytes_per_second(size.bytes, one.times.p50_ns)),
                  one.routine});
    }
    out.say(rows.text() + "\n");
}

int run(lat_options const& values) {
    report out(values);
    opened_gpu const gpu(values.device);
    cuda::context_scope const scope = gpu.enter();
    std::vector<std::size_t> const sizes = sizes_to_measure(values, 1);
    constexpr std::size_t smallest_room = MiB; // for the posts
    copy_methods copies(gpu, values,
                        std::max(*std::max_element(sizes.begin(), sizes.end()), smallest_room));
    out.about(gpu.device(), copies.mapping().backend());
    out.say(formatted("{}, {} memory by {} ({})\n\n", title_of(gpu.device()), values.memory,
                      copies.mapping().backend(), to_string(copies.mapping().kind())));

    if (values.compare) {
        compare(out, gpu, copies, sizes, values);
    } else {
        std::vector<copy_method> const methods{copies.chosen()};
        progress bar(sizes.size() * std::size(both_directions));
        for (copy_direction const way : both_directions) {
            std::vector<measured_size> found;
            for (std::size_t const bytes : sizes) {
                bar.step(formatted("{} {}", name_of(way), size_text(bytes)));
                found.push_back({bytes, measure_in_turn(methods, way, bytes, values)});
                out.add(row_of(found.back().methods.front(), way, bytes));
            }
            tell_latencies(out, way, found);
        }
    }
    measure_read8(out, copies, values.budget_s);
    measure_posts(out, copies, values.budget_s);
    out.finish();
    return exit_ok;
}

} // namespace

void add_lat(command_line& program) {
    subcommand app = program.add("lat", "Measure the latency of copies");
    auto values = std::make_shared<lat_options>();
    values->max = 64 * MiB;
    values->budget_s = 0.5;
    add_target_options(app, *values);
    add_measuring_options(app, *values);
    app.flag("--compare", values->compare,
             "measure in turn adaptive copies, each copy engine, the mapping and cuMemcpy, with "
             "pageable and with pinned host memory, and every copy routine with pageable memory");
    add_output_options(app, *values);
    app.footer(
        {.remark =
             "Also measures a monotonic 8-byte read beside a plain load, and the cost of posts of "
             "8 and 64 bytes, to new lines and to the same line. Operations under 1 us are timed "
             "64 at a time (operations_per_sample in the JSON), posts 1024 at a time. An engine "
             "that cannot hold memory of the kind asked for copies memory that barmap allocates.",
         .exit_codes = {"0 done", usage_help, unavailable_help},
         .examples = {"# Is the automatic choice a good one here?", "barmap lat --compare",
                      "# Samples for later, and a plot of them",
                      "barmap lat --output lat.json && barmap plot lat.json -o lat.svg"}});
    when_chosen(app, values, run);
}

} // namespace barmap::tool
