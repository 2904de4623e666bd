// SPDX-License-Identifier: MIT
#include "exit_codes.hpp"
#include "formatted.hpp"
#include "options.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace barmap::tool {
namespace {

struct plot_options : options {
    std::vector<std::string> results;
    std::string plot;
};

/// Python's part of barmap draws; this hands over to it.
int run(plot_options const& values) {
    std::vector<char const*> words{"python3", "-m", "barmap", "plot"};
    words.insert(words.end(), {"--output", values.plot.c_str(), "--"});
    for (std::string const& file : values.results)
        words.push_back(file.c_str());
    words.push_back(nullptr);
    execvp(words.front(), const_cast<char**>(words.data()));
    std::fputs(
        formatted("barmap: cannot start python3: {}: install Python and its package barmap\n",
                  std::strerror(errno))
            .c_str(),
        stderr);
    return exit_not_started;
}

} // namespace

void add_plot(command_line& program) {
    subcommand app = program.add("plot", "Draw what lat, bw, batch and ring measured");
    auto values = std::make_shared<plot_options>();
    app.add("RESULTS", values->results, "what lat, bw, batch or ring wrote with --output").required();
    app.add("-o,--output", values->plot, "the plot to write: .svg, .png or .pdf").required();
    app.footer("Example: barmap plot lat.json bw.json -o results.svg\n"
               "Needs Python with the package barmap and matplotlib.");
    when_chosen(app, values, run);
}

} // namespace barmap::tool
