// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

namespace barmap::dropin {

/// How a program ended and what it printed.
struct ending {
    int status = -1; ///< as from waitpid
    std::string out, err;

    [[nodiscard]] bool exited_with(int code) const;
};

/// Starts this program again, to do one action of child_actions.cpp in an environment of its own:
/// variables of this process, without those that steer the library, and with these.
[[nodiscard]] ending run_child(std::string const& action,
                               std::map<std::string, std::string> const& environment = {});

/// What the started program does. Its output is lines of "name value".
/// @return its exit code
int act_as_child(std::string const& action);

} // namespace barmap::dropin
