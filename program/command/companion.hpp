// SPDX-License-Identifier: MIT
/// Files that are installed with the program.
#pragma once

#include <string>
#include <vector>

namespace barmap::tool {

struct companion {
    std::string path;     ///< absolute; empty if it is in none of the folders
    std::string searched; ///< the folders, in words, for a message
};

/// Looks for a file in folders that are named from the program's own folder, and in that where the
/// build was to install it; empty if it was to be installed nowhere.
companion find_companion(std::string const& file, std::vector<std::string> const& from_own_folder,
                         std::string const& installed);

} // namespace barmap::tool
