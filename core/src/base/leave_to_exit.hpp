// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <utility>

namespace barmap {

/// Keeps an object until the process has ended, and never destroys it: the GPU may still write to
/// its memory, or CUDA, which would have to free it, may be gone. Checkers of leaks find the object
/// by the list that it joins. Thread rule: free.
/// @param owner of the object: a smart pointer
template <class Owner>
void leave_to_exit(Owner owner) noexcept {
    struct kept {
        Owner owner;
        kept const* before;
    };
    static constinit std::atomic<kept const*> latest{nullptr};
    auto* const mine = new kept{std::move(owner), latest.load(std::memory_order_relaxed)};
    while (!latest.compare_exchange_weak(mine->before, mine, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
}

} // namespace barmap
