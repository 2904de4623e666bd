// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace barmap::os {

/// Where a simulated vendor's library of this file name may lie, best first: only at `forced`, if that
/// is not empty; else beside this code, then where barmap installs it.
[[nodiscard]] std::vector<std::string> simulated_library(std::string const& file,
                                                         std::string const& forced);

} // namespace barmap::os
