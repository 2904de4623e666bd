// SPDX-License-Identifier: MIT
#include "system/process_exit.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>

namespace barmap::os {
namespace {

using clock = std::chrono::steady_clock;
constinit std::atomic<clock::rep> began{0}; // 0: not noticed

void begin() noexcept {
    clock::rep none = 0;
    began.compare_exchange_strong(none, clock::now().time_since_epoch().count());
}

} // namespace

void notice_exit() noexcept {
    (void)std::atexit(begin); // without memory, it is not noticed
}

bool exit_has_begun() noexcept {
    return began.load(std::memory_order_relaxed) != 0;
}

bool exit_is_overdue() noexcept {
    constexpr std::chrono::seconds longest{2};
    clock::rep const then = began.load(std::memory_order_relaxed);
    return then != 0 && clock::now().time_since_epoch() - clock::duration(then) > longest;
}

} // namespace barmap::os
