// SPDX-License-Identifier: MIT
#pragma once

#include "command/options.hpp"
#include "output/interruption.hpp"
#include "output/timing.hpp"

#include "system/fd.hpp"

#include <barmap/device.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace barmap::tool {

/// The findings of a subcommand: text for people while it runs, and one JSON object at the end:
/// {"barmap", "command", "machine", "results": [...]}.
class report {
public:
    /// Opens the file of --output, so that a long measurement does not end in a refusal. The file
    /// keeps its content until finish(); a new one is removed if that is never reached. Where a
    /// signal ends the process before (interruption.hpp), the JSON that was asked for is written
    /// with the results that there are, if any, and with "interrupted": true.
    /// @throws usage_error if it cannot be written
    explicit report(options const& values);
    ~report();
    report(report const&) = delete;
    report& operator=(report const&) = delete;

    /// The GPU that this is about; without it the machine has none.
    void about(device const& gpu, std::string_view backend = {});

    /// Text to stdout, in lines of a page's width; nothing under --json.
    void say(std::string_view text) const;
    void add(json row);
    /// Another member of the document, beside "results".
    void set(std::string_view key, json value);

    /// Prints and writes the JSON that was asked for. @return the exit code of what is good or has
    /// failed. @throws usage_error if the file cannot be written
    int finish(bool good = true);

private:
    void write_document();
    void save_results() noexcept;

    bool json_;
    std::string output_;
    os::fd file_;
    bool unfinished_file_ = false; ///< made by this report, and still empty
    std::timed_mutex lock_;        ///< of the members below
    bool finished_ = false;
    json document_;
    std::optional<interruption> interruption_;
};

/// Its name, and whether it is simulated.
[[nodiscard]] std::string title_of(device const& gpu);
/// "passed", "FAILED", or "FAILED: " and the problem.
[[nodiscard]] std::string verdict(bool good, std::string const& problem);

} // namespace barmap::tool
