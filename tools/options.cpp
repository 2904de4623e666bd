// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <barmap/backend.hpp>

namespace barmap::tool {
namespace {

std::vector<std::string> routine_names() {
    std::vector<std::string> names{"auto"};
    for (copy_routine_report const& routine : copy_routines())
        names.push_back(routine.name);
    return names;
}

} // namespace

void add_device_option(subcommand& app, options& values) {
    app.add("--device", values.device, "CUDA ordinal of the GPU").between(0, 1023).with_default();
}

void add_target_options(subcommand& app, options& values) {
    add_device_option(app, values);
    app.add("--memory", values.memory,
            "what to map: device (cuMemAlloc), vmm (cuMemCreate with a POSIX fd), vmm5 (five "
            "adjacent such chunks), barmap (allocated by barmap)")
        .one_of({"device", "vmm", "vmm5", "barmap"})
        .with_default();
    app.add("--backend", values.backend, "backend to use; default: the first that can")
        .one_of(backend_names());
    app.add("--routine", values.routine, "CPU copy routine to use")
        .one_of(routine_names())
        .with_default();
    app.add("--kernel", values.routine, "the former name of --routine")
        .one_of(routine_names())
        .hidden();
}

void add_size_option(subcommand& app, std::string const& name, std::size_t& value,
                     std::string const& help) {
    app.add(name, value, help + " (512, 4K, 1M, ...)").bytes().with_default();
}

void add_measuring_options(subcommand& app, options& values) {
    app.add("--sizes", values.sizes, "sizes to measure, for example 8,4K,1M")
        .bytes()
        .list()
        .named("SIZE,...");
    add_size_option(app, "--max", values.max, "largest size, where --sizes is not given");
    app.add("--iterations", values.iterations,
            "samples per size and direction; default: as many as --budget allows")
        .positive();
    app.add("--budget", values.budget_s, "measuring time per size and direction, seconds")
        .seconds()
        .with_default();
}

void add_threads_option(subcommand& app, options& values) {
    app.add("--threads", values.threads, "threads that share one mapping")
        .between(1, 1024)
        .with_default();
}

void add_output_options(subcommand& app, options& values) {
    app.flag("--json", values.json, "print JSON instead of text");
    app.add("--output", values.output, "also write the JSON to this file").named("FILE");
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
