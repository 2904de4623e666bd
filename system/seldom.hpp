// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>

namespace barmap::os {

/// Says now and then that it is time for something that is too slow to be done each time.
/// Thread rule: free.
class seldom {
public:
    explicit seldom(std::chrono::steady_clock::duration period) noexcept
        : period_(period.count()) {}

    /// Whether a period has gone by since it last said so, or it never did.
    [[nodiscard]] bool is_due() noexcept {
        auto const now = std::chrono::steady_clock::now().time_since_epoch().count();
        auto next = next_.load(std::memory_order_relaxed);
        return now >= next &&
               next_.compare_exchange_strong(next, now + period_, std::memory_order_relaxed);
    }

private:
    std::chrono::steady_clock::rep period_;
    std::atomic<std::chrono::steady_clock::rep> next_{0};
};

} // namespace barmap::os
