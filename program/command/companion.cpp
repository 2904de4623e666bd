// SPDX-License-Identifier: MIT
#include "command/companion.hpp"

#include "system/library.hpp"

#include <algorithm>
#include <filesystem>

namespace barmap::tool {

companion find_companion(std::string const& file, std::vector<std::string> const& from_own_folder,
                         std::string const& installed) {
    std::error_code ignored;
    std::vector<std::filesystem::path> folders;
    auto const add = [&](std::filesystem::path const& folder) {
        std::filesystem::path const whole = std::filesystem::weakly_canonical(folder, ignored);
        if (std::ranges::find(folders, whole) == folders.end())
            folders.push_back(whole);
    };
    std::filesystem::path const own = os::own_folder();
    if (!own.empty()) // else the current directory would be searched
        for (std::string const& each : from_own_folder)
            add(own / each);
    if (!installed.empty())
        add(installed);

    companion found;
    for (std::filesystem::path const& folder : folders) {
        if (found.path.empty() && std::filesystem::exists(folder / file, ignored))
            found.path = (folder / file).string();
        found.searched += (found.searched.empty() ? "" : ", ") + folder.string();
    }
    return found;
}

} // namespace barmap::tool
