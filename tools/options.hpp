// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// CLI11 takes long to compile: only the files that name options include it.
namespace CLI {
class App;
class Option;
} // namespace CLI

namespace barmap::tool {

/// The options that several subcommands share.
struct options {
    int device = 0;
    std::string memory = "device"; ///< device, vmm, vmm5 or barmap
    std::string backend;           ///< empty: the first that can
    std::string kernel = "auto";
    std::vector<std::size_t> sizes; ///< empty: powers of two up to max
    std::size_t max = 0;
    std::size_t iterations = 0; ///< 0: as many as the budget allows
    unsigned threads = 1;
    double budget_s = 0; ///< measuring time per size and direction
    bool json = false;
    std::string output;
    std::vector<std::string> command; ///< as it was typed
};

void add_device_option(CLI::App& app, options& values);
/// --device, --memory, --backend, --kernel
void add_target_options(CLI::App& app, options& values);
/// --sizes, --max, --iterations, --budget; their defaults are what `values` holds
void add_measuring_options(CLI::App& app, options& values);
void add_threads_option(CLI::App& app, options& values);
/// --json, --output
void add_output_options(CLI::App& app, options& values);

/// A size in bytes with an optional unit: 512, 4K, 1MiB.
CLI::Option* add_size_option(CLI::App& app, std::string const& name, std::size_t& value,
                             std::string const& help);

/// The sizes to measure: --sizes, or the powers of two from `first` to --max.
[[nodiscard]] std::vector<std::size_t> sizes_to_measure(options const& values, std::size_t first);

/// The subcommand that was chosen, ready to run.
struct invocation {
    std::vector<std::string> words; ///< the command line
    std::function<int()> run;       ///< returns the exit code
};

/// Makes `run` what the program does when this subcommand is chosen.
void when_chosen(CLI::App& subcommand, invocation& call, std::shared_ptr<options> settings,
                 std::function<int()> run);

template <class Settings>
void when_chosen(CLI::App& subcommand, invocation& call, std::shared_ptr<Settings> settings,
                 int (*run)(Settings const&)) {
    when_chosen(subcommand, call, std::shared_ptr<options>(settings),
                [settings, run] { return run(*settings); });
}

void add_info(CLI::App& program, invocation& call);
void add_demo(CLI::App& program, invocation& call);
void add_check(CLI::App& program, invocation& call);
void add_lat(CLI::App& program, invocation& call);
void add_bw(CLI::App& program, invocation& call);
void add_api(CLI::App& program, invocation& call);
void add_pingpong(CLI::App& program, invocation& call);
void add_fresh(CLI::App& program, invocation& call);
void add_stress(CLI::App& program, invocation& call);
void add_sim(CLI::App& program, invocation& call);
void add_plot(CLI::App& program, invocation& call);

} // namespace barmap::tool
