// SPDX-License-Identifier: MIT
#pragma once

#include "output/timing.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace barmap::tool {

/// A progress bar in less than that many columns, with how long the rest takes, as far as that can be known.
[[nodiscard]] std::string progress_line(std::size_t done, std::size_t steps, double elapsed_s,
                                        std::string_view now_doing, std::size_t columns);

/// A progress bar on stderr: only on a terminal, and only once the work has taken a second.
/// Thread rule: one thread.
class progress {
public:
    explicit progress(std::size_t steps);
    progress(progress const&) = delete;
    progress& operator=(progress const&) = delete;
    ~progress(); ///< erases the bar

    void step(std::string_view now_doing); ///< one step begins
    void reach(std::size_t done, std::string_view now_doing);

    /// Erases the bar that is on the screen, if one is, for other text to be printed. The next step
    /// draws it again.
    static void wipe() noexcept;

    /// Erases the bar for good: the process is about to end. Thread rule: any thread.
    static void stop() noexcept;

private:
    std::size_t steps_;
    std::size_t done_ = 0;
    clock::time_point begin_ = clock::now();
    clock::time_point drawn_{};
    bool terminal_;
};

} // namespace barmap::tool
