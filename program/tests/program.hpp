// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace barmap::test {

/// What one run of the program `barmap` gave.
struct outcome {
    int exit_code = -1;
    std::string out, err;
    [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// Runs `barmap ARGUMENTS` on the simulated GPU. The arguments are words of a shell command.
[[nodiscard]] outcome barmap(std::string const& arguments, std::string const& environment = {});

/// The same for the program under another name: a link beside it.
[[nodiscard]] outcome barmap_named(std::string const& name, std::string const& arguments,
                                   std::string const& environment = {});

/// Runs `barmap ARGUMENTS` where CUDA shows no GPU.
[[nodiscard]] outcome barmap_without_gpu(std::string const& arguments);

/// Text as it was before it was broken into lines: words with one space between them.
[[nodiscard]] std::string unfolded(std::string const& text);

/// Rows of the "results" whose member has this value.
[[nodiscard]] nlohmann::json rows(outcome const& run, std::string const& member,
                                  nlohmann::json const& value);

} // namespace barmap::test
