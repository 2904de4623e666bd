// SPDX-License-Identifier: MIT
#include "base/library.hpp"
#include "output/formatted.hpp"
#include "program/environment.hpp"
#include "program/exit_codes.hpp"
#include "program/options.hpp"
#include "program/run_instead.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <optional>

namespace barmap::tool {
namespace {

struct sim_options : options {
    std::string driver, devices, bar1, memory_size, fail;
    std::vector<std::string> program;
};

std::optional<std::filesystem::path> simulated_driver_folder() {
    std::error_code ignored;
    std::filesystem::path const own = os::own_folder();
    if (own.empty())
        return std::nullopt; // or the current folder would be searched
    for (std::filesystem::path const& folder : {own / "barmap-sim", own / "../lib/barmap-sim",
                                                std::filesystem::path(BARMAP_TOOL_SIM_FOLDER)})
        if (std::filesystem::exists(folder / "libcuda.so.1", ignored))
            return std::filesystem::weakly_canonical(folder, ignored);
    return std::nullopt;
}

/// What the simulated driver finds wrong with the environment, which the options are passed on in;
/// empty if nothing is.
std::string problem_of(std::filesystem::path const& driver) {
    void* const library = dlopen(driver.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return dlerror();
    auto* const ask = reinterpret_cast<char const* (*)()>(dlsym(library, "barmap_sim_problem"));
    char const* const problem = ask ? ask() : nullptr;
    return problem ? problem : "";
}

int run(sim_options const& values) {
    auto const folder = simulated_driver_folder();
    if (!folder) {
        return cannot_start(
            formatted("the simulated GPU (lib/barmap-sim/libcuda.so.1) is neither beside this "
                      "program nor in {}: build or install it with BARMAP_SIM_GPU=ON",
                      BARMAP_TOOL_SIM_FOLDER));
    }
    environment variables;
    variables.set_first("LD_LIBRARY_PATH", folder->string());
    variables.set("BARMAP_SIM", "1");
    variables.set("BARMAP_SIM_LIBRARY", (*folder / "libcuda.so.1").string());
    variables.set("BARMAP_SIM_DRIVER", values.driver);
    variables.set("BARMAP_SIM_DEVICES", values.devices);
    variables.set("BARMAP_SIM_BAR1", values.bar1);
    variables.set("BARMAP_SIM_MEMORY", values.memory_size);
    variables.set("BARMAP_SIM_FAIL", values.fail);
    if (std::string const problem = problem_of(*folder / "libcuda.so.1"); !problem.empty()) {
        (void)cannot_start(problem);
        return exit_usage;
    }

    return run_instead(values.program);
}

} // namespace

void add_sim(command_line& program) {
    subcommand app = program.add("sim", "Run a program on the simulated GPU");
    auto values = std::make_shared<sim_options>();
    app.add("--driver", values->driver, "driver series to behave as: 535, 550, 570, 580 or 610")
        .named("SERIES");
    app.add("--devices", values->devices, "number of GPUs").between(1, 16);
    app.add("--bar1", values->bar1, "BAR1 per GPU, which limits what can be mapped at once")
        .bytes();
    app.add("--memory", values->memory_size, "memory per GPU").bytes();
    app.add("--fail", values->fail,
            "a driver call that fails, with this CUDA error code, for example cuMemAlloc:2")
        .named("FUNCTION:CODE[:WHICH]");
    app.add("PROGRAM", values->program, "the program and its arguments, after --").required();
    app.arguments_at_end();
    app.footer(
        {.remark = "Times on the simulated GPU say nothing about a real one.",
         .exit_codes = {"127 the program cannot be started", "2 an option or argument is wrong",
                        "N otherwise as the program exits"},
         .examples = {"# Any program on two GPUs",
                      "barmap sim --devices 2 -- ./my_program --its-option",
                      "# How does it handle an allocation that fails?",
                      "barmap sim --fail cuMemAlloc:2 -- ./my_program"}});
    when_chosen(app, values, run);
}

} // namespace barmap::tool
