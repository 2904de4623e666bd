// SPDX-License-Identifier: MIT
#pragma once

#include "options.hpp"
#include "timing.hpp"

#include <barmap/device.hpp>

#include <string>
#include <string_view>

namespace barmap::tool {

/// What a subcommand found: text for people while it runs, and one JSON object at the end:
/// {"barmap", "command", "machine", "results": [...]}.
class report {
public:
    explicit report(options const& values);

    /// The GPU that this is about; without it the machine has none.
    void about(device const& gpu, std::string_view backend = {});

    /// Text to stdout; nothing under --json.
    void say(std::string_view text) const;
    void add(json row);

    /// Prints and writes the JSON that was asked for. @throws usage_error if the file cannot be
    /// written
    void finish();

private:
    bool json_;
    std::string output_;
    json document_;
};

} // namespace barmap::tool
