// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <sys/types.h>

namespace barmap::os {

/// Identifies this process: its PID, and a number that no ancestor of it has, since a child in a
/// separate PID namespace may have its parent's PID. Thread rule: free; signal handlers may call
/// it.
struct alignas(8) process_id { // so that clang also exchanges it as one word
    pid_t number = 0;
    unsigned generation = 0;
    bool operator==(process_id const&) const = default;
};

[[nodiscard]] process_id this_process() noexcept;

/// False in a forked child of the process that asked for `owner`, whether it was made by fork() or
/// by clone(2). Makes no system call, but before Linux 4.14, which lacks MADV_WIPEONFORK.
[[nodiscard]] bool is_this_process(process_id owner) noexcept;

/// While it lives, no thread's fork() goes through: for addresses that a child must not inherit,
/// until the kernel knows. Few system calls may be made under it, and no other lock may be taken.
/// Signal handlers, which may fork, run in this thread only afterwards. It does not hold up
/// clone(2) by itself.
class no_fork {
public:
    no_fork() noexcept;
    no_fork(no_fork const&) = delete;
    no_fork& operator=(no_fork const&) = delete;
    ~no_fork();

private:
    sigset_t before_; ///< what the thread had blocked
};

} // namespace barmap::os
