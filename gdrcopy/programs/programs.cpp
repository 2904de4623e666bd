// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/programs.hpp"

#include "command/other_programs.hpp"

namespace barmap::tool {

std::span<other_program const> other_programs() {
    // CMakeLists.txt makes a link to barmap for each of these.
    static constexpr other_program programs[] = {
        {"gdrcopy_sanity", gdrcopy::run_sanity},   {"gdrcopy_copybw", gdrcopy::run_copybw},
        {"gdrcopy_copylat", gdrcopy::run_copylat}, {"gdrcopy_apiperf", gdrcopy::run_apiperf},
        {"gdrcopy_pplat", gdrcopy::run_pplat},     {"gdrcopy_validate", gdrcopy::run_validate},
        {"validate", gdrcopy::run_validate},
    };
    return programs;
}

} // namespace barmap::tool
