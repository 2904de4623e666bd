// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <barmap/backend.hpp>

#include <CLI/CLI.hpp>

#include <utility>

namespace barmap::tool {
namespace {

std::vector<std::string> kernel_names() {
    std::vector<std::string> names{"auto"};
    for (copy_kernel_report const& kernel : copy_kernels())
        names.push_back(kernel.name);
    return names;
}

} // namespace

void add_device_option(CLI::App& app, options& values) {
    app.add_option("--device", values.device, "CUDA ordinal of the GPU")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
}

void add_target_options(CLI::App& app, options& values) {
    add_device_option(app, values);
    app.add_option(
           "--memory", values.memory,
           "what to map: device (cuMemAlloc), vmm (cuMemCreate with a POSIX fd), vmm5 (five "
           "such chunks in a row), barmap (allocated by barmap)")
        ->check(CLI::IsMember({"device", "vmm", "vmm5", "barmap"}))
        ->capture_default_str();
    app.add_option("--backend", values.backend, "backend to use; default: the first that can")
        ->check(CLI::IsMember(backend_names()));
    app.add_option("--kernel", values.kernel, "CPU copy kernel to use")
        ->check(CLI::IsMember(kernel_names()))
        ->capture_default_str();
}

CLI::Option* add_size_option(CLI::App& app, std::string const& name, std::size_t& value,
                             std::string const& help) {
    return app.add_option(name, value, help + " (512, 4K, 1M, ...)")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::PositiveNumber)
        ->type_name("SIZE")
        ->capture_default_str();
}

void add_measuring_options(CLI::App& app, options& values) {
    app.add_option("--sizes", values.sizes, "sizes to measure, for example 8,4K,1M")
        ->delimiter(',')
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::PositiveNumber)
        ->type_name("SIZE,...");
    add_size_option(app, "--max", values.max, "largest size, where --sizes is not given");
    app.add_option("--iterations", values.iterations,
                   "samples per size and direction; default: as many as --budget allows");
    app.add_option("--budget", values.budget_s, "measuring time per size and direction, seconds")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
}

void add_threads_option(CLI::App& app, options& values) {
    app.add_option("--threads", values.threads, "threads that share one mapping")
        ->check(CLI::Range(1u, 1024u))
        ->capture_default_str();
}

void add_output_options(CLI::App& app, options& values) {
    app.add_flag("--json", values.json, "print JSON instead of text");
    app.add_option("--output", values.output, "also write the JSON to this file")
        ->type_name("FILE");
}

void when_chosen(CLI::App& subcommand, invocation& call, std::shared_ptr<options> settings,
                 std::function<int()> run) {
    subcommand.callback([&call, settings = std::move(settings), run = std::move(run)] {
        settings->command = call.words;
        call.run = run;
    });
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
