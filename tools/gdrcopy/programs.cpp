// SPDX-License-Identifier: MIT
#include "gdrcopy/programs.hpp"

#include <algorithm>
#include <exception>
#include <iterator>

namespace barmap::tool::gdrcopy {
namespace {

struct program {
    std::string_view name;
    int (*run)(int argc, char** argv);
};

// tools/CMakeLists.txt makes a link to barmap for each of these.
constexpr program programs[] = {
    {"gdrcopy_sanity", run_sanity},   {"gdrcopy_copybw", run_copybw},
    {"gdrcopy_copylat", run_copylat}, {"gdrcopy_apiperf", run_apiperf},
    {"gdrcopy_pplat", run_pplat},     {"gdrcopy_validate", run_validate},
    {"validate", run_validate},
};

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

} // namespace

std::optional<int> run_by_name(int argc, char** argv) {
    if (argc < 1)
        return std::nullopt;
    for (program const& known : programs) {
        if (base_name(argv[0]) != known.name)
            continue;
        try {
            return known.run(argc, argv);
        } catch (std::exception const& failure) {
            std::fflush(stdout);
            std::fputs(formatted("{}: {}\n", known.name, failure.what()).c_str(), stderr);
            return 1;
        }
    }
    return std::nullopt;
}

bool is_gdrcopy_name(std::string_view name) {
    return std::any_of(std::begin(programs), std::end(programs), [&](program const& known) {
        return known.name == name && name.starts_with("gdrcopy_");
    });
}

} // namespace barmap::tool::gdrcopy
