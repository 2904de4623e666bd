// SPDX-License-Identifier: MIT
#include "cuda/driver_lifetime.hpp"

#include "system/process_exit.hpp"

#include <atomic>

namespace barmap::cuda {
namespace {

std::atomic<bool> process_exits{false};

/// Made after a driver was loaded, it goes before it when the process exits.
struct exit_watch {
    ~exit_watch() { process_exits.store(true, std::memory_order_relaxed); }
};

} // namespace

bool drivers_are_up(os::process_id owner) noexcept {
    return os::is_this_process(owner) && !process_exits.load(std::memory_order_relaxed) &&
           !os::exit_is_overdue();
}

void watch_exit() {
    static exit_watch const instance;
}

} // namespace barmap::cuda
