// SPDX-License-Identifier: MIT
#pragma once

#include "command/command_line.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace barmap::tool {

/// The options that several subcommands share.
struct options {
    int device = 0;
    std::string memory = "device"; ///< device, vmm, vmm5 or barmap
    std::string backend;           ///< empty: the first that can
    std::string routine = "auto";
    std::vector<std::size_t> sizes; ///< empty: powers of two up to max
    std::size_t max = 0;
    std::size_t iterations = 0; ///< 0: as many as the budget allows
    unsigned threads = 1;
    double budget_s = 0; ///< measuring time per size and direction
    bool json = false;
    std::string output;
    std::vector<std::string> command; ///< as it was typed
};

void add_device_option(subcommand& app, options& values);
/// --device, --memory, --backend, --routine
void add_target_options(subcommand& app, options& values);
/// --sizes, --max, --iterations, --budget; their defaults are what `values` holds. `each`: what is measured
/// on its own.
void add_measuring_options(subcommand& app, options& values, std::string const& each = "size and direction",
                           std::string const& sizes = "8,4K,1M");
void add_threads_option(subcommand& app, options& values, std::string const& help);
/// --json, --output
void add_output_options(subcommand& app, options& values);

/// A size in bytes with an optional unit: 512, 4K, 1MiB. It has a default.
void add_size_option(subcommand& app, std::string const& name, std::size_t& value,
                     std::string const& help);

/// The sizes to measure: --sizes, or the powers of two from `first` to --max.
[[nodiscard]] std::vector<std::size_t> sizes_to_measure(options const& values, std::size_t first);

/// Makes `run` what the program does when this subcommand is chosen.
template <class Settings>
void when_chosen(subcommand& app, std::shared_ptr<Settings> settings, int (*run)(Settings const&)) {
    app.runs([settings, run, &words = app.words()] {
        settings->command = words;
        return run(*settings);
    });
}

void add_info(command_line& program);
void add_demo(command_line& program);
void add_check(command_line& program);
void add_lat(command_line& program);
void add_bw(command_line& program);
void add_api(command_line& program);
void add_batch(command_line& program);
void add_pingpong(command_line& program);
void add_ring(command_line& program);
void add_fresh(command_line& program);
void add_stress(command_line& program);
void add_log(command_line& program);
void add_run(command_line& program);
void add_sim(command_line& program);
void add_plot(command_line& program);

} // namespace barmap::tool
