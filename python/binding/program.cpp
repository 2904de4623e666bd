// SPDX-License-Identifier: MIT
#include "program.hpp"

#include "command/execute.hpp"
#include "command/program.hpp"
#include "system/of_thread.hpp"

#include "released_gil.hpp"

#include <nanobind/stl/vector.h>

#include <cerrno>

namespace nb = nanobind;

namespace {

using words = std::vector<std::string>;

words text_of(std::vector<nb::bytes> const& given) {
    words result;
    for (nb::bytes const& each : given)
        result.emplace_back(each.c_str(), each.size());
    return result;
}

/// What starts the program again, of the call of this thread: Python, and how it finds this
/// package.
struct own_command {
    words line;
};

/// The program, whose exit code this returns.
int run(std::vector<nb::bytes> const& arguments, std::vector<nb::bytes> const& again) {
    if (auto* const own = barmap::os::of_thread<own_command>::get())
        own->line = text_of(again);
    words line = text_of(arguments);
    std::vector<char*> pointers;
    for (std::string& each : line)
        pointers.push_back(each.data());
    pointers.push_back(nullptr);
    barmap::python::released_gil const others_run;
    return barmap::tool::run_program(static_cast<int>(line.size()), pointers.data());
}

} // namespace

void barmap::tool::start_again(words const& arguments) {
    auto const* const own = barmap::os::of_thread<own_command>::get();
    words whole = own ? own->line : words();
    if (whole.empty()) {
        errno = ENOENT;
        return;
    }
    whole.insert(whole.end(), arguments.begin() + 1, arguments.end());
    execute(whole.front(), whole);
}

void barmap::python::bind_program(nb::module_& module) {
    module.def("run_program", &run, nb::arg("words"), nb::arg("again"));
}
