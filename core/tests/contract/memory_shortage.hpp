// SPDX-License-Identifier: MIT
#pragma once

namespace barmap::contract {

/// While it lives, one allocation of the library by operator new fails on this thread. What the
/// system, the driver and their fakes allocate does not count: it is no business of the library's.
/// One at a time. The tables of system and driver calls are those that were in force when it began.
class memory_shortage {
public:
    /// @param which            the allocation that fails; 1 is the next
    /// @param driver_is_loaded false where the library is to load it meanwhile
    explicit memory_shortage(unsigned which, bool driver_is_loaded = true);
    memory_shortage(memory_shortage const&) = delete;
    memory_shortage& operator=(memory_shortage const&) = delete;
    ~memory_shortage();

    /// Whether it came to that allocation.
    [[nodiscard]] bool has_failed() const noexcept;
};

} // namespace barmap::contract
