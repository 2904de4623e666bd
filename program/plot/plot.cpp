// SPDX-License-Identifier: MIT
#include "output/formatted.hpp"
#include "command/execute.hpp"
#include "command/exit_codes.hpp"
#include "command/options.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace barmap::tool {
namespace {

struct plot_options : options {
    std::vector<std::string> results;
    std::string plot, title;
    std::vector<std::string> series;
    bool overlay = false;
};

/// Python's part of barmap draws; this hands over to it.
int run(plot_options const& values) {
    // Not `-m barmap`, which would run a barmap in the current directory. With the equals sign a
    // value may begin with a dash.
    constexpr char program[] =
        "import sys\n"
        "sys.path[:] = filter(None, sys.path)\n"
        "try:\n"
        "    from barmap.__main__ import main\n"
        "except ImportError as failure:\n"
        "    print(f'barmap: plot needs the Python package barmap, which {sys.executable} cannot "
        "import: {failure}: install it, and matplotlib', file=sys.stderr)\n"
        "    sys.exit(3)\n"
        "sys.exit(main())";
    std::vector<std::string> words{"python3", "-c",
                                   program,
                                   "plot", "--output=" + values.plot};
    if (!values.title.empty())
        words.push_back("--title=" + values.title);
    for (std::string const& each : values.series)
        words.push_back("--series=" + each);
    if (values.overlay)
        words.push_back("--overlay");
    words.push_back("--");
    words.insert(words.end(), values.results.begin(), values.results.end());
    execute(words.front(), words);
    std::fputs(
        formatted("barmap: cannot start python3: {}: install Python and its package barmap\n",
                  std::strerror(errno))
            .c_str(),
        stderr);
    return exit_not_started;
}

} // namespace

void add_plot(command_line& program) {
    subcommand app = program.add("plot", "Plot measurements");
    auto values = std::make_shared<plot_options>();
    app.add("RESULTS", values->results,
            "files that lat, bw, batch, ring, pingpong, api or fresh wrote with --output")
        .required();
    app.add("-o,--output", values->plot, "file to write: .svg, .png or .pdf")
        .named("PLOT")
        .required();
    app.add("--title", values->title, "title, instead of the machine").named("TEXT");
    app.add("--series", values->series,
            "draw only series of this name, as a shell matches it; may be given several times")
        .repeated()
        .named("PATTERN");
    app.flag("--overlay", values->overlay,
             "draw several files in one plot, instead of next to each other");
    app.footer(
        {.remark = "Needs Python with the package barmap and matplotlib.",
         .exit_codes = {"0 done",
                        "2 a file cannot be read or has no times in it, no series has the given "
                        "name, or an option is wrong",
                        "3 Python lacks the package barmap, or matplotlib",
                        "127 there is no Python"},
         .examples = {"# One plot of two measurements", "barmap lat --output lat.json",
                      "barmap bw --output bw.json", "barmap plot lat.json bw.json -o results.svg",
                      "# Two GPUs in one plot",
                      "barmap plot --overlay --series adaptive h200.json h100.json -o gpus.pdf"}});
    when_chosen(app, values, run);
}

} // namespace barmap::tool
