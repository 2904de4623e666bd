// SPDX-License-Identifier: MIT
#include "command/options.hpp"

#include "output/formatted.hpp"
#include "output/units.hpp"

#include <barmap/report.hpp>

#include <utility>

namespace barmap::tool {
namespace {

std::vector<std::string> routine_names() {
    std::vector<std::string> names{"auto"};
    for (copy_routine_report const& routine : copy_routines())
        names.push_back(routine.name);
    return names;
}

/// With the largest unit that divides it: 64M.
std::string size_as_typed(std::size_t bytes) {
    for (auto const& [unit, letter] :
         {std::pair{GiB, 'G'}, std::pair{MiB, 'M'}, std::pair{KiB, 'K'}})
        if (bytes % unit == 0)
            return formatted("{}{}", bytes / unit, letter);
    return formatted("{}", bytes);
}

} // namespace

void add_device_option(subcommand& app, options& values) {
    app.add("--device", values.device, "CUDA ordinal of the GPU").between(0, 1023).with_default();
}

void add_target_options(subcommand& app, options& values) {
    add_device_option(app, values);
    app.add("--memory", values.memory,
            "what to map: device (cuMemAlloc), vmm (cuMemCreate with a POSIX file descriptor), "
            "vmm5 (five adjacent such chunks) or barmap (allocated by barmap)")
        .one_of({"device", "vmm", "vmm5", "barmap"})
        .named("KIND")
        .with_default();
    app.add("--backend", values.backend,
            "backend to use; by default the first that can map the memory")
        .one_of(backend_names())
        .named("NAME");
    app.add("--routine", values.routine,
            "CPU copy routine to use: one that barmap info --verbose lists, or auto, which chooses by "
            "measurement")
        .one_of_this_machine(routine_names())
        .named("NAME")
        .with_default();
    app.add("--kernel", values.routine, "the former name of --routine")
        .one_of(routine_names())
        .hidden();
}

void add_size_option(subcommand& app, std::string const& name, std::size_t& value,
                     std::string const& help) {
    app.add(name, value, help).bytes().with_default(size_as_typed(value));
}

void add_measuring_options(subcommand& app, options& values, std::string const& each,
                           std::string const& sizes) {
    app.add("--sizes", values.sizes, "sizes to measure, for example " + sizes)
        .bytes()
        .list()
        .named("SIZE,...");
    add_size_option(app, "--max", values.max,
                    "largest size, if --sizes is not given: sizes are then powers of two");
    app.add("--iterations", values.iterations,
            "samples per " + each + "; by default as many as --budget allows, from 5 to 20,000")
        .positive();
    app.add("--budget", values.budget_s, "measuring time per " + each)
        .seconds()
        .with_default();
}

void add_threads_option(subcommand& app, options& values, std::string const& help) {
    app.add("--threads", values.threads, help + ", from 1 to 1024").between(1, 1024).with_default();
}

void add_output_options(subcommand& app, options& values) {
    app.flag("--json", values.json, "print one JSON object instead of text");
    app.add("--output", values.output,
            "also write the JSON to this file; it is opened first, and removed again if it is new "
            "and the measurement fails. If a signal (^C) ends the measurement, the file gets the "
            "results so far and \"interrupted\": true")
        .named("FILE");
}

std::vector<std::size_t> sizes_to_measure(options const& values, std::size_t first) {
    if (!values.sizes.empty())
        return values.sizes;
    std::vector<std::size_t> sizes;
    for (std::size_t size = first; size <= values.max; size *= 2)
        sizes.push_back(size);
    if (sizes.empty())
        sizes.push_back(values.max);
    return sizes;
}

} // namespace barmap::tool
