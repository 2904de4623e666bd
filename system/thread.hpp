// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <thread>

namespace barmap::os {

/// A thread of the library. The program's signals never reach it: it blocks all of them but those
/// that the CPU raises in the thread that they are about (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP,
/// SIGSYS). Threads that it starts, as CUDA's, inherit that. As std::thread, it must be joined or
/// detached before its destructor.
class thread {
public:
    thread() noexcept = default;
    /// @param name for tools such as `ps -T`: "barmap-" and at most 8 letters; lives forever
    /// @throws std::system_error, std::bad_alloc
    thread(char const* name, std::function<void()> body);

    [[nodiscard]] bool joinable() const noexcept { return running_.joinable(); }
    void join() { running_.join(); }
    void detach() { running_.detach(); }

private:
    std::thread running_;
};

} // namespace barmap::os
