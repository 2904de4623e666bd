// SPDX-License-Identifier: MIT
#pragma once

namespace barmap::fake {

/// While it lives, the n-th allocation by operator new that this thread makes in the code under test
/// throws std::bad_alloc (1 is the next). One at a time in a thread.
class failing_allocation {
public:
    explicit failing_allocation(unsigned which) noexcept;
    failing_allocation(failing_allocation const&) = delete;
    failing_allocation& operator=(failing_allocation const&) = delete;
    ~failing_allocation();
    /// Whether that allocation was made.
    [[nodiscard]] static bool has_fired() noexcept;
};

/// While it lives, allocations of this thread are a fake's, and do not count.
class allocations_of_a_fake {
public:
    allocations_of_a_fake() noexcept;
    allocations_of_a_fake(allocations_of_a_fake const&) = delete;
    allocations_of_a_fake& operator=(allocations_of_a_fake const&) = delete;
    ~allocations_of_a_fake();
};

} // namespace barmap::fake
