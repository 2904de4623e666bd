// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace barmap::os {

/// Whether BARMAP_SIM asks for the simulated GPU instead of a vendor's library.
[[nodiscard]] bool simulation_is_wanted();

/// Where the simulated GPU's library of this file name may lie, best first: the file that the
/// environment variable `forced_by` names, then beside this code, then where barmap installs it.
[[nodiscard]] std::vector<std::string> simulated_library(std::string const& file,
                                                         char const* forced_by);

} // namespace barmap::os
