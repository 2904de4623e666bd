// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace barmap::tool {

/// The variables of the program to start. If the start fails, they are restored, since this process
/// may continue.
class child_variables {
public:
    child_variables() = default;
    child_variables(child_variables const&) = delete;
    child_variables& operator=(child_variables const&) = delete;
    ~child_variables() {
        for (auto const& [variable, value] : before_)
            value ? setenv(variable, value->c_str(), 1) : unsetenv(variable);
    }

    void set(char const* variable, std::string const& value) {
        if (value.empty())
            return;
        char const* const is = std::getenv(variable);
        before_.emplace_back(variable, is ? std::optional<std::string>(is) : std::nullopt);
        setenv(variable, value.c_str(), 1);
    }

    /// Before what the variable lists.
    void set_first(char const* variable, std::string const& value) {
        char const* const rest = std::getenv(variable);
        set(variable, value + (rest && *rest ? std::string(":") + rest : ""));
    }

private:
    std::vector<std::pair<char const*, std::optional<std::string>>> before_;
};

} // namespace barmap::tool
