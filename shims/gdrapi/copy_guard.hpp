// SPDX-License-Identifier: MIT
#pragma once

#include "restartable_word.hpp"

#include "copy/walk.hpp"

#include <barmap/backend.hpp>
#include <barmap/window.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

/// What a copy needs to know of a mapped handle, found without a lock, and kept alive while the
/// copy runs without an atomic read-modify-write. A copy announces the slot that it uses in a
/// variable of its thread; whoever unmaps first makes the slot void, then waits for every thread
/// that announced it. The barrier between announcing and looking is paid by the one who unmaps
/// (membarrier), so that a copy costs a few plain loads and two stores more than barmap's own. A
/// word goes without even these where the system offers it: see restartable_word.hpp.
namespace barmap::gdrapi {

/// One cache line per mapped handle. What lies behind `handle` and `mapping` belongs to whatever
/// mapping they name. They guard it in two ways: a copy that has announced the slot and then sees
/// its handle may use the rest until it ends; a word reads `mapping` first, then the rest, and
/// counts on it only if `mapping` is still the same at its access.
struct alignas(64) slot {
    std::atomic<unsigned long> handle{0};  ///< 0 while it is not mapped
    std::atomic<unsigned long> mapping{0}; ///< never the same for two mappings; 0: none
    std::atomic<std::byte*> data{nullptr}; ///< CPU address of the pinned address
    std::atomic<std::size_t> size{0};      ///< bytes
    std::atomic<copy_plan const*> plan{nullptr};
    std::atomic<cache_kind> kind{cache_kind::write_combining};

    /// For assembly.
    [[nodiscard]] unsigned long const& plain_mapping() const noexcept {
        static_assert(sizeof(mapping) == sizeof(unsigned long));
        return reinterpret_cast<unsigned long const&>(mapping);
    }
};

/// What one thread is copying through. A cache line of its own, since it is written at every copy.
struct alignas(64) reader {
    std::atomic<slot const*> in_use{nullptr};
    std::atomic<bool> taken{true}; ///< by a living thread
    reader* next = nullptr;        ///< in the list of all; never changes
};

namespace detail {

// A handle is a serial number above an index, so that none is ever given out twice.
inline constexpr unsigned index_bits = 20;
inline constexpr unsigned long index_mask = (1ul << index_bits) - 1;
inline constexpr std::size_t slots_per_block = 256;

/// Blocks stay for good: a copy may look at a slot long after it was given back.
extern std::array<std::atomic<slot*>, (index_mask + 1) / slots_per_block> blocks;

} // namespace detail

/// The slot that a handle names, or null where no handle like this was ever given out.
[[nodiscard]] inline slot* find_slot(unsigned long handle) noexcept {
    unsigned long const index = handle & detail::index_mask;
    slot* const block =
        detail::blocks[index / detail::slots_per_block].load(std::memory_order_acquire);
    return block ? block + index % detail::slots_per_block : nullptr;
}

/// A slot nobody uses, and a handle for it that was never given out before.
/// @throws std::bad_alloc where there are too many
[[nodiscard]] slot& allocate_slot(unsigned long& handle);
void free_slot(unsigned long handle) noexcept;

/// Copies through the handle may use the slot from now on, for what its other fields say.
void publish(slot& which, unsigned long handle);

/// No copy uses the slot any more, or will. Waits for those under way.
/// @return false if the kernel refuses the barrier, so that one may still be under way unseen
[[nodiscard]] bool withdraw(slot& which) noexcept;

/// In a forked child: no handle of the parent names a slot any more.
void forget_all_slots() noexcept;

namespace detail {

/// Static thread-local storage: found without a call, although this is a library. A module that is
/// loaded late, into a process that may have used up this storage, is built with another model.
#ifndef BARMAP_GDRAPI_TLS_MODEL
#define BARMAP_GDRAPI_TLS_MODEL "initial-exec"
#endif
extern thread_local constinit reader* this_reader [[gnu::tls_model(BARMAP_GDRAPI_TLS_MODEL)]];
/// Gives this thread its reader. @return false where memory is short
[[nodiscard]] bool make_reader() noexcept;
extern std::atomic<bool> barrier_is_cheap; ///< the one who unmaps pays; set before any is mapped

/// Announces what the first copy of a thread uses, and every one where membarrier is not offered.
/// @return false where memory is short
[[nodiscard]] bool announce_slowly(slot const& which) noexcept;

/// This thread uses no slot any more. @return result
int end_copy(int result) noexcept;

/// Whether the range lies in the slot's mapping. @pre the slot was seen to belong to the handle;
/// only if it still does afterwards, the answer counts
[[nodiscard]] [[gnu::always_inline]] inline bool holds(slot const& named, std::byte const* mapped,
                                                       std::size_t bytes) noexcept {
    std::size_t const offset =
        reinterpret_cast<std::uintptr_t>(mapped) -
        reinterpret_cast<std::uintptr_t>(named.data.load(std::memory_order_relaxed));
    std::size_t const size = named.size.load(std::memory_order_relaxed);
    return offset <= size && bytes <= size - offset;
}

/// @pre the slot is announced. Ends the copy.
template <class Move>
[[gnu::always_inline]] inline int copy_announced(unsigned long handle, slot const& named,
                                                 std::byte* mapped, std::byte* host,
                                                 std::size_t bytes) {
    if (named.handle.load(std::memory_order_acquire) != handle) [[unlikely]]
        return end_copy(EINVAL);
    if (bytes == 0) [[unlikely]]
        return end_copy(0);
    if (!holds(named, mapped, bytes) || !host) [[unlikely]]
        return end_copy(EINVAL);
    Move::move(mapped, host, bytes, *named.plan.load(std::memory_order_relaxed));
    return end_copy(0);
}

template <class Move>
[[gnu::noinline]] int copy_slowly(unsigned long handle, slot const& named, std::byte* mapped,
                                  std::byte* host, std::size_t bytes) {
    if (!announce_slowly(named))
        return ENOMEM;
    return copy_announced<Move>(handle, named, mapped, host, bytes);
}

} // namespace detail

/// Runs Move::move(mapped, host, bytes, plan), or Move::move_word for a word, while the handle's
/// mapping is held, if the range lies in it.
/// @return 0, or EINVAL: the handle is not mapped, the range leaves its mapping, or host is null
///
/// Nothing is kept in registers across a call, so that nothing is saved to the stack: a store next
/// to those to write-combining memory costs 2 to 3 ns on Sapphire Rapids. That is why every way out
/// ends in a tail call.
template <class Move>
[[gnu::always_inline]] inline int copy_through(unsigned long handle, std::byte* mapped,
                                               std::byte* host, std::size_t bytes) {
    slot* const named = find_slot(handle);
    if (!named) [[unlikely]]
        return EINVAL;
    // Before it is announced, so that whoever unmaps waits for copies and not for refusals.
    if (named->handle.load(std::memory_order_acquire) != handle) [[unlikely]]
        return EINVAL;
    if (words_are_restartable.load(std::memory_order_relaxed) &&
        copy::is_word(reinterpret_cast<std::uintptr_t>(mapped), bytes)) {
        unsigned long const mapping = named->mapping.load(std::memory_order_acquire);
        // A thread that waits for a page cannot be sent back: on the simulated GPU pages come late.
        if (named->kind.load(std::memory_order_relaxed) != cache_kind::cached) {
            if (mapping == 0 || named->handle.load(std::memory_order_acquire) != handle || !host ||
                !detail::holds(*named, mapped, bytes)) [[unlikely]]
                return EINVAL;
            // All that was looked at counts only if the mapping is still the one of before.
            return Move::move_word(mapped, host, bytes, named->plain_mapping(), mapping) ? 0
                                                                                         : EINVAL;
        }
    }
    reader* const mine = detail::this_reader;
    if (!mine || !detail::barrier_is_cheap.load(std::memory_order_relaxed)) [[unlikely]]
        return detail::copy_slowly<Move>(handle, *named, mapped, host, bytes);
    mine->in_use.store(named, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return detail::copy_announced<Move>(handle, *named, mapped, host, bytes);
}

} // namespace barmap::gdrapi
