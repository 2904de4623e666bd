// SPDX-License-Identifier: MIT
#include "os/simulated_library.hpp"

#include "os/library.hpp"

#include <cstdlib>
#include <cstring>

namespace barmap::os {

bool simulation_is_wanted() {
    char const* const value = std::getenv("BARMAP_SIM");
    return value && *value && std::strcmp(value, "0") != 0;
}

std::vector<std::string> simulated_library(std::string const& file, char const* forced_by) {
    std::vector<std::string> names;
    if (char const* const forced = std::getenv(forced_by); forced && *forced)
        names.emplace_back(forced);
    std::string const here = own_folder();
    names.push_back(here + "/barmap-sim/" + file);
    names.push_back(here + "/../lib/barmap-sim/" + file);
#ifdef BARMAP_SIM_INSTALL_PATH
    names.push_back(BARMAP_SIM_INSTALL_PATH "/" + file);
#endif
    return names;
}

} // namespace barmap::os
