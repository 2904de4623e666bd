// SPDX-License-Identifier: MIT
#pragma once

#include "boundary.hpp"

#include <barmap/mapping.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

/// The data of a mapped handle that copies need, found without a lock, and without trusting the
/// handle: any number may be looked up. A copy keeps nothing alive. As with gdrcopy, unmapping what
/// another thread is copying through is the program's error.
namespace barmap::gdrapi {

/// One cache line per handle. Copies read it while other handles come and go, hence the atomics.
struct alignas(64) slot {
    std::atomic<unsigned long> handle{0};  ///< 0 while it is not mapped
    std::atomic<std::byte*> data{nullptr}; ///< CPU address of the pinned address
    std::atomic<std::size_t> size{0};      ///< bytes
    std::atomic<copy_plan const*> plan{nullptr};
    /// From these sizes on, in bytes, an engine may be faster.
    std::atomic<std::size_t> engines_to_gpu{0}, engines_to_cpu{0};
    std::atomic<mapping const*> whole{nullptr}; ///< the mapping that this is in
};

namespace detail {

// A handle is a serial number above an index, so that none is ever given out twice.
inline constexpr unsigned index_bits = 20;
inline constexpr unsigned long index_mask = (1ul << index_bits) - 1;
inline constexpr std::size_t slots_per_block = 256;

/// Blocks are never freed: a copy may read a slot long after its handle was freed.
extern std::atomic<slot*> blocks[(index_mask + 1) / slots_per_block];

} // namespace detail

/// The slot that a handle names, or null if no such handle was ever allocated.
[[nodiscard]] inline slot* find_slot(unsigned long handle) noexcept {
    unsigned long const index = handle & detail::index_mask;
    slot* const block =
        detail::blocks[index / detail::slots_per_block].load(std::memory_order_acquire);
    return block ? block + index % detail::slots_per_block : nullptr;
}

/// @return a handle that was never allocated before, for an unused slot
/// @throws std::bad_alloc if there are too many
[[nodiscard]] unsigned long allocate_handle();
/// @pre the handle is void
void free_handle(unsigned long handle) noexcept;

/// Copies through the handle may use these bytes of the mapping from now on.
void publish_handle(unsigned long handle, std::byte* data, std::size_t bytes,
                    mapping const& whole) noexcept;
/// Copies through the handle are refused from now on.
void void_handle(unsigned long handle) noexcept;

/// Around a fork: between the two no handle is given out or freed.
void lock_handles() noexcept;
void unlock_handles() noexcept;
/// In a forked child, before unlock_handles(): copies through the parent's handles are refused.
void void_all_handles() noexcept;

/// Runs move(slot) if the handle is mapped and the range lies in its mapping.
/// @return what it returns; EINVAL if it is not mapped, the range does not lie in it, or host is null
///
/// Nothing is kept in registers across the move, so that nothing is saved to the stack: a store
/// next to those to write-combining memory costs 2 to 3 ns on Sapphire Rapids.
template <class Gpu, class Host, class Move>
[[gnu::always_inline]] inline int copy_through(unsigned long handle, Gpu* mapped, Host* host,
                                               std::size_t bytes, Move move) noexcept {
    slot const* const named = find_slot(handle);
    if (!named || named->handle.load(std::memory_order_acquire) != handle) [[unlikely]]
        return EINVAL;
    if (bytes == 0) [[unlikely]]
        return 0;
    std::size_t const size = named->size.load(std::memory_order_relaxed);
    std::size_t const offset =
        reinterpret_cast<std::uintptr_t>(mapped) -
        reinterpret_cast<std::uintptr_t>(named->data.load(std::memory_order_relaxed));
    if (offset > size || bytes > size - offset || !host) [[unlikely]]
        return EINVAL;
    return move(*named);
}

/// Runs move(mapping) on the same terms; it may take its time, and throw.
/// @return also the errno value of what it throws
template <class Gpu, class Host, class Move>
int copy_much(unsigned long handle, Gpu* mapped, Host* host, std::size_t bytes,
              Move move) noexcept {
    return copy_through(handle, mapped, host, bytes, [&](slot const& named) {
        return guarded([&] {
            move(*named.whole.load(std::memory_order_relaxed));
            return 0;
        });
    });
}

} // namespace barmap::gdrapi
