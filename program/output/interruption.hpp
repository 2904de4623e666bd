// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace barmap::tool {

/// While it lives, SIGINT and SIGTERM do not end the process at once: they have `save` called, in a thread
/// of its own, whatever the others are doing, and end it then. A second one ends it at once. A signal that
/// is ignored, or that somebody else handles, stays as it is.
/// Thread rule: one at a time in a process.
class interruption {
public:
    /// @param save must not throw
    explicit interruption(std::function<void()> save);
    interruption(interruption const&) = delete;
    interruption& operator=(interruption const&) = delete;
    ~interruption();

private:
    void wait_for_signal();

    std::function<void()> save_;
    int read_end_ = -1, write_end_ = -1;
    std::vector<std::pair<int, struct sigaction>> before_;
    std::thread waiting_;
};

} // namespace barmap::tool
