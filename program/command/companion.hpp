// SPDX-License-Identifier: MIT
/// Files that are installed with the program.
#pragma once

#include <string>
#include <vector>

namespace barmap::tool {

struct companion {
    std::string path;     ///< absolute; empty if it is in none of the directories
    std::string searched; ///< the directories, for a message
};

/// Looks for a file in directories that are named from the program's own directory, and in the one
/// where the build would install it; empty if it would install it nowhere.
companion find_companion(std::string const& file, std::vector<std::string> const& from_own_folder,
                         std::string const& installed);

} // namespace barmap::tool
