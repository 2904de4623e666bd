// SPDX-License-Identifier: MIT
#include "command/child_variables.hpp"
#include "command/companion.hpp"
#include "command/exit_codes.hpp"
#include "command/options.hpp"
#include "command/run_instead.hpp"
#include "output/formatted.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <string>
#include <vector>

namespace barmap::tool {
namespace {

struct sim_options : options {
    std::string driver, devices, bar1, memory_size, fail;
    std::vector<std::string> program;
};

/// What the simulated driver finds wrong with the environment, which the options are passed on in;
/// empty if nothing is.
std::string problem_of(std::string const& driver) {
    void* const library = dlopen(driver.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return dlerror();
    auto* const ask = reinterpret_cast<char const* (*)()>(dlsym(library, "barmap_sim_problem"));
    char const* const problem = ask ? ask() : nullptr;
    return problem ? problem : "";
}

int run(sim_options const& values) {
    auto const [driver, searched] = find_companion(
        "libcuda.so.1", {"barmap-sim", "../lib/barmap-sim"}, BARMAP_TOOL_SIM_FOLDER);
    if (driver.empty())
        return cannot_start(formatted("the simulated GPU, libcuda.so.1, is in none of these "
                                      "directories: {}; build or install barmap with BARMAP_SIM_GPU=ON",
                                      searched));
    child_variables variables;
    variables.set_first("LD_LIBRARY_PATH", std::filesystem::path(driver).parent_path().string());
    variables.set("BARMAP_SIM", "1");
    variables.set("BARMAP_SIM_LIBRARY", driver);
    variables.set("BARMAP_SIM_DRIVER", values.driver);
    variables.set("BARMAP_SIM_DEVICES", values.devices);
    variables.set("BARMAP_SIM_BAR1", values.bar1);
    variables.set("BARMAP_SIM_MEMORY", values.memory_size);
    variables.set("BARMAP_SIM_FAIL", values.fail);
    if (std::string const problem = problem_of(driver); !problem.empty()) {
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
                        "N otherwise the exit code of the program"},
         .examples = {"# Any program on two GPUs",
                      "barmap sim --devices 2 -- ./my_program --its-option",
                      "# How does it handle an allocation that fails?",
                      "barmap sim --fail cuMemAlloc:2 -- ./my_program"}});
    when_chosen(app, values, run);
}

} // namespace barmap::tool
