// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

namespace barmap::os {

/// Which process this is: its PID, and how many forks lie between it and the first that asked. A
/// child in a PID namespace of its own may have its parent's PID. Thread rule: free; may be
/// called from signal handlers.
struct alignas(8) process_id { // so that clang, too, exchanges it as one word
    pid_t number = 0;
    unsigned generation = 0;
    bool operator==(process_id const&) const = default;
};

[[nodiscard]] process_id this_process() noexcept;

/// False in a forked child of the process that asked for `owner`, whichever way it was forked.
[[nodiscard]] inline bool is_this_process(process_id owner) noexcept {
    return this_process() == owner;
}

/// The same without a system call, for code that runs often: true in a child on kernels before
/// Linux 4.14.
[[nodiscard]] bool is_probably_this_process(process_id owner) noexcept;

/// While it lives, no thread's fork() goes through: for addresses that a child must not inherit,
/// until the kernel knows. Few system calls may be made under it, and no other lock be taken.
/// It does not hold up clone(2) by itself, nor a fork in a signal handler of the thread that has
/// it.
class no_fork {
public:
    no_fork() noexcept;
    no_fork(no_fork const&) = delete;
    no_fork& operator=(no_fork const&) = delete;
    ~no_fork();
};

} // namespace barmap::os
