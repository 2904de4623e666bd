// SPDX-License-Identifier: MIT
#include "lat.hpp"

#include "exit_codes.hpp"
#include "formatted.hpp"
#include "progress.hpp"
#include "table.hpp"
#include "units.hpp"

#include <algorithm>
#include <iterator>

namespace barmap::tool {
namespace {

struct lat_options : options {
    bool compare = false;
};

/// What was measured at one size in one direction.
struct cell {
    std::size_t bytes;
    std::vector<measured_method> found;
};

/// The fastest copy routine and how the automatic choice does beside it.
struct choice {
    std::string best;
    double auto_over_best;
};

choice judge(std::vector<measured_method> const& found) {
    measured_method const* best = nullptr;
    for (measured_method const& one : found)
        if (one.mapped && &one != &found.front() &&
            (!best || one.times.p50_ns < best->times.p50_ns))
            best = &one;
    return {best->name, found.front().times.p50_ns / best->times.p50_ns};
}

void tell_comparison(report& out, direction way, std::vector<cell> const& cells) {
    std::vector<std::string> headings{std::string(name_of(way)) + " p50 us"};
    for (measured_method const& one : cells.front().found)
        headings.push_back(one.name);
    headings.insert(headings.end(), {"auto GB/s", "best", "auto/best", "auto is"});
    table rows(headings);
    for (cell const& cell : cells) {
        std::vector<std::string> row{size_text(cell.bytes)};
        for (measured_method const& one : cell.found)
            row.push_back(microseconds(one.times.p50_ns));
        choice const chosen = judge(cell.found);
        measured_method const& automatic = cell.found.front();
        row.push_back(
            formatted("{:.2f}", gigabytes_per_second(cell.bytes, automatic.times.p50_ns)));
        row.push_back(chosen.best);
        row.push_back(formatted("{:.3f}", chosen.auto_over_best));
        row.push_back(automatic.routine);
        rows.row(std::move(row));
    }
    out.say(rows.text() + "\n");
}

void tell_latencies(report& out, direction way, std::vector<cell> const& cells) {
    table rows({std::string(name_of(way)), "min us", "p50 us", "p99 us", "GB/s", "routine"});
    for (cell const& cell : cells) {
        measured_method const& one = cell.found.front();
        rows.row({size_text(cell.bytes), microseconds(one.times.min_ns),
                  microseconds(one.times.p50_ns), microseconds(one.times.p99_ns),
                  formatted("{:.2f}", gigabytes_per_second(cell.bytes, one.times.p50_ns)),
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
    out.say(formatted("{}{}, {} memory by {} ({})\n\n", gpu.device().name(),
                      gpu.device().simulated() ? " (simulated GPU)" : "", values.memory,
                      copies.mapping().backend(), to_string(copies.mapping().kind())));

    std::vector<copy_method> methods{copies.chosen()};
    if (values.compare) {
        for (auto&& more : {copies.every_routine(), copies.driver()})
            methods.insert(methods.end(), more.begin(), more.end());
    }
    progress bar(sizes.size() * std::size(both_directions));
    for (direction const way : both_directions) {
        std::vector<cell> cells;
        for (std::size_t const bytes : sizes) {
            bar.step(formatted("{} {}", name_of(way), size_text(bytes)));
            cells.push_back(
                {bytes, measure_in_turn(methods, way, bytes, values.budget_s, values.iterations)});
            for (measured_method const& one : cells.back().found)
                out.add(row_of(one, way, bytes));
            if (values.compare) {
                choice const chosen = judge(cells.back().found);
                out.add({{"measurement", "choice"},
                         {"direction", name_of(way)},
                         {"size", bytes},
                         {"auto_routine", cells.back().found.front().routine},
                         {"best", chosen.best},
                         {"auto_over_best", chosen.auto_over_best}});
            }
        }
        values.compare ? tell_comparison(out, way, cells) : tell_latencies(out, way, cells);
    }
    measure_read8(out, copies, values.budget_s);
    measure_posts(out, copies, values.budget_s);
    out.finish();
    return exit_ok;
}

} // namespace

void add_lat(command_line& program) {
    subcommand app = program.add("lat", "Latency of copies by size and direction");
    auto values = std::make_shared<lat_options>();
    values->max = 64 * MiB;
    values->budget_s = 0.5;
    add_target_options(app, *values);
    add_measuring_options(app, *values);
    app.flag("--compare", values->compare,
             "measure every copy routine, the automatic choice and cuMemcpy (pageable and "
             "pinned) in turn");
    add_output_options(app, *values);
    app.footer("Also measures a fresh 8-byte read beside a plain load, and the cost of posts.\n"
               "Operations under 1 us are timed 64 at a time (operations_per_sample in the JSON); "
               "posts 1024 at a time.");
    when_chosen(app, values, run);
}

} // namespace barmap::tool
