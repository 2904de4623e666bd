// SPDX-License-Identifier: MIT
// In the place of programs.cpp where the program is built without those of gdrcopy.
#include "gdrcopy/programs.hpp"

namespace barmap::tool::gdrcopy {

std::optional<int> run_by_name(int, char**) {
    return std::nullopt;
}

bool is_gdrcopy_name(std::string_view) {
    return false;
}

} // namespace barmap::tool::gdrcopy
