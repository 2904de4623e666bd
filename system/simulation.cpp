// SPDX-License-Identifier: MIT
#include "system/simulation.hpp"

#include "system/library.hpp"

namespace barmap::os {

std::vector<std::string> simulated_library(std::string const& file, std::string const& forced) {
    if (!forced.empty())
        return {forced};
    std::vector<std::string> names;
    std::string const here = own_folder();
    if (!here.empty()) {
        names.push_back(here + "/barmap-sim/" + file);
        names.push_back(here + "/../lib/barmap-sim/" + file);
    }
#ifdef BARMAP_SIM_INSTALL_PATH
    names.push_back(BARMAP_SIM_INSTALL_PATH "/" + file);
#endif
    return names;
}

} // namespace barmap::os
