// SPDX-License-Identifier: MIT
#include "command/child_variables.hpp"
#include "command/companion.hpp"
#include "command/options.hpp"
#include "command/run_instead.hpp"
#include "output/formatted.hpp"

#include <string>
#include <vector>

namespace barmap::tool {
namespace {

constexpr char library_name[] = "libbarmap-memcpy.so";

struct run_options : options {
    std::vector<std::string> program;
};

int run(run_options const& values) {
    // In a prefix, or beside Python's extension.
    auto const [library, searched] = find_companion(
        library_name, {BARMAP_TOOL_TO_LIB, "../lib", "."}, BARMAP_TOOL_LIB_FOLDER);
    if (library.empty())
        return cannot_start(formatted("{} is in none of these directories: {}; install the package "
                                      "libbarmap-memcpy, or build barmap with BARMAP_PRELOAD=ON",
                                      library_name, searched));
    if (library.find_first_of(": ") != std::string::npos)
        return cannot_start(formatted(
            "LD_PRELOAD cannot hold {}: install barmap under a path without spaces and colons",
            library));
    child_variables variables;
    variables.set_first("LD_PRELOAD", library);
    return run_instead(values.program);
}

} // namespace

void add_run(command_line& program) {
    subcommand app = program.add("run", "Run a program and let barmap take its batch copies");
    auto values = std::make_shared<run_options>();
    app.add("PROGRAM", values->program, "the program and its arguments, after --").required();
    app.arguments_at_end();
    app.footer(
        {.remark = "docs/memcpy.md says which batches of cudaMemcpyBatchAsync and "
                   "cuMemcpyBatchAsync barmap takes, and which it leaves to CUDA.",
         .exit_codes = {"127 the program cannot be started", "2 an option or argument is wrong",
                        "N otherwise the exit code of the program"},
         .examples = {"# Which batches does it take?",
                      "BARMAP_LOG=info barmap run -- ./my_program --its-option",
                      "# The same on the simulated GPU, by CUDA's own copies",
                      "BARMAP_ENGINE=driver barmap sim -- barmap run -- ./my_program"}});
    when_chosen(app, values, run);
}

} // namespace barmap::tool
