// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace barmap::nixl {

/// Keeps a range of host memory pinned by CUDA. Leaves memory that the program has pinned to the
/// program. CUDA pins whole pages, and each of them once: ranges of one process share those that
/// they have in common. Thread rule: different ranges may be made and destroyed at once.
class pinned_range {
public:
    /// @param gpu any that CUDA has; the memory is pinned for all of them
    /// @throws error, among others where a part of the range is the program's own registration
    pinned_range(int gpu, std::uintptr_t address, std::size_t bytes);
    pinned_range(pinned_range const&) = delete;
    pinned_range& operator=(pinned_range const&) = delete;
    ~pinned_range();

    /// How many bytes from an address of the range on lie in one registration: no copy of CUDA's
    /// may cross into another one.
    [[nodiscard]] std::size_t bytes_in_one_registration(std::uintptr_t address) const noexcept;

private:
    void let_go() noexcept; ///< with the lock of all registrations held

    std::vector<std::uintptr_t> shares_;     ///< where registrations begin that this keeps
    std::vector<std::uintptr_t> boundaries_; ///< between two registrations; ascending
};

} // namespace barmap::nixl
