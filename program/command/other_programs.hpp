// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

namespace barmap::tool {

/// A program that this one is too, when it is called by that name.
struct other_program {
    std::string_view name;
    /// Its exit code. It may throw; the text is reported on stderr and 1 is the code.
    int (*run)(int argc, char** argv);
};

/// The programs of the products that are built with this one: gdrcopy/programs defines it, or no_other_programs.cpp.
[[nodiscard]] std::span<other_program const> other_programs();

} // namespace barmap::tool
