// SPDX-License-Identifier: MIT
#include "lat/lat.hpp"

#include "command/exit_codes.hpp"
#include "output/formatted.hpp"
#include "output/results.hpp"
#include "output/units.hpp"

#include <algorithm>
#include <iterator>

namespace barmap::tool {
namespace {

struct lat_options : options {
    bool compare = false;
};

void measure_chosen(report& out, compared_copies& copies, std::vector<std::size_t> const& sizes,
                    options const& values) {
    std::vector<copy_method> const chosen{copies.chosen()};
    progress bar(sizes.size() * std::size(both_directions));
    for (copy_direction const way : both_directions) {
        measurement const what("copy",
                               {column(std::string(name_of(way)), "size", size_of), us("min"),
                                us("p50"), us("p99"), column("GB/s", "gb_per_s", fixed<2>),
                                column("routine", "routine")});
        auto const measure_size = [&](results& into, std::size_t bytes) {
            into.now(formatted("{} {}", name_of(way), size_text(bytes)));
            into.add(result_of(measure_in_turn(chosen, way, bytes, values).front(), way, bytes));
        };
        measure(out, what, every(sizes), measure_size, &bar);
    }
}

int run(lat_options const& values) {
    report out(values);
    opened_gpu const gpu(values.device);
    cuda::context_scope const scope = gpu.enter();
    std::vector<std::size_t> const sizes = sizes_to_measure(values, 1);
    constexpr std::size_t smallest_room = MiB; // for the posts
    compared_copies copies(gpu, values,
                           std::max(*std::max_element(sizes.begin(), sizes.end()), smallest_room));
    out.about(gpu.device(), copies.mapping().backend());
    out.say(formatted("{}, {} memory by {} ({})\n\n", title_of(gpu.device()), values.memory,
                      copies.mapping().backend(), to_string(copies.mapping().kind())));

    if (values.compare)
        compare(out, gpu, copies, sizes, values);
    else
        measure_chosen(out, copies, sizes, values);
    measure_read8(out, copies, values.budget_s);
    measure_posts(out, copies, values.budget_s);
    return out.finish();
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
