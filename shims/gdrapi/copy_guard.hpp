// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/window.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

/// What a copy needs to know of a mapped handle, found without a lock, and kept alive while the
/// copy runs without an atomic read-modify-write. A copy announces the slot that it uses in a
/// variable of its thread; whoever unmaps first makes the slot void, then waits for every thread
/// that announced it. The barrier between announcing and looking is paid by the one who unmaps
/// (membarrier), so that a copy costs a few plain loads and stores more than barmap's own.
namespace barmap::gdrapi {

/// One cache line per mapped handle.
struct alignas(64) slot {
    std::atomic<unsigned long> handle{0}; ///< 0 while it is not mapped; the rest belongs to it
    std::byte* data = nullptr;            ///< CPU address of the mapping
    std::size_t size = 0;                 ///< bytes
    copy_plan const* plan = nullptr;
};

/// What one thread is copying through.
struct reader {
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
[[nodiscard]] slot& take_slot(unsigned long& handle);
void give_back_slot(unsigned long handle) noexcept;

/// Copies may use the slot from now on. Its other fields are set.
void publish(slot& which, unsigned long handle);

/// No copy uses the slot any more, or will.
void withdraw(slot& which) noexcept;

/// In a forked child: no handle names a slot any more.
void forget_all_slots() noexcept;

namespace detail {
/// Static thread-local storage: found without a call, although this is a library.
extern thread_local constinit reader* this_reader [[gnu::tls_model("initial-exec")]];
[[nodiscard]] reader* make_reader() noexcept; ///< null where memory is short
extern bool barrier_is_cheap; ///< the one who unmaps pays; set before any slot is published
} // namespace detail

/// Holds a handle's mapping while it lives. Thread rule: on one thread's stack.
class copy_guard {
public:
    explicit copy_guard(unsigned long handle) noexcept : reader_(detail::this_reader) {
        slot* const named = find_slot(handle);
        if (!named) [[unlikely]]
            return;
        if (!reader_) [[unlikely]] {
            reader_ = detail::make_reader();
            if (!reader_)
                return;
        }
        if (detail::barrier_is_cheap) [[likely]] {
            reader_->in_use.store(named, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);
        } else {
            reader_->in_use.store(named, std::memory_order_seq_cst);
            std::atomic_thread_fence(std::memory_order_seq_cst);
        }
        if (named->handle.load(std::memory_order_acquire) == handle) [[likely]]
            slot_ = named;
    }
    copy_guard(copy_guard const&) = delete;
    copy_guard& operator=(copy_guard const&) = delete;
    ~copy_guard() {
        if (reader_) [[likely]]
            reader_->in_use.store(nullptr, std::memory_order_release);
    }

    /// The mapping, or null: the handle is not mapped.
    [[nodiscard]] slot const* get() const noexcept { return slot_; }

    /// Whether these bytes lie in the mapping. @pre get()
    [[nodiscard]] bool holds(void const* address, std::size_t bytes) const noexcept {
        std::size_t const offset = reinterpret_cast<std::uintptr_t>(address) -
                                   reinterpret_cast<std::uintptr_t>(slot_->data);
        return offset <= slot_->size && bytes <= slot_->size - offset;
    }

private:
    reader* reader_;
    slot const* slot_ = nullptr;
};

} // namespace barmap::gdrapi
