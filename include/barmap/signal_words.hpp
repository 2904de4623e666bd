// SPDX-License-Identifier: MIT
/// What rings, counters and calls between a CPU and running GPU code are made of.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/copy.hpp>
#include <barmap/gpu/words.cuh>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace barmap::inline BARMAP_INLINE_NAMESPACE {
namespace detail {

/// Makes rings and calls whose numbers begin elsewhere than at 0, to show what happens when numbers wrap.
struct first_number {
    template <class Signal>
    static Signal of(arena const& memory, std::size_t slots, std::uint64_t first) {
        return Signal(memory, slots, first);
    }
};

/// How the CPU publishes lines in GPU memory.
enum class publication {
    by_line,  ///< message and commit word in one transaction (MOVDIR64B)
    by_words, ///< message, fence, commit word: a write-combining buffer may leave in any order
    coherent  ///< memory as any other: the commit word is stored with release
};

/// The one that suits a mapping.
[[nodiscard]] inline publication publication_for(window to, cache_kind kind) noexcept {
    if (kind == cache_kind::cached)
        return publication::coherent;
    return head(to).direct_lines ? publication::by_line : publication::by_words;
}

/// Lets no later store of this thread to GPU memory pass an earlier load of it.
inline void order_loads_before_stores() noexcept {
#if defined(__x86_64__)
    std::atomic_signal_fence(std::memory_order_seq_cst); // the processor keeps that order
#else
    order_loads();
#endif
}

/// Looks until it finds something, or the time is over.
template <class Look>
bool look_until(Look const& look, std::chrono::nanoseconds at_most) noexcept {
    using clock = std::chrono::steady_clock;
    // A time that no clock reaches is as good as none.
    constexpr std::chrono::nanoseconds longest = std::chrono::hours(24 * 365);
    constexpr int looks_per_time = 64;
    clock::time_point const until = clock::now() + std::min(at_most, longest);
    for (;;) {
        for (int i = 0; i < looks_per_time; ++i) {
            if (look())
                return true;
            pause();
        }
        if (clock::now() >= until)
            return look();
    }
}

/// Words of GPU memory that one CPU thread at a time writes, and running GPU code polls.
class words_to_gpu {
public:
    /// All 0, but in an opened arena what they hold. @throws error as arena::take_gpu()
    words_to_gpu(arena const& memory, std::size_t count)
        : part_(memory.take_gpu(count * sizeof(gpu::word))), window_(part_.window()),
          is_coherent_(memory.kind() == cache_kind::cached) {
        if (memory.opened())
            return;
        fill(window_, std::byte{0});
        flush_stores();
    }

    /// Stores one. It arrives at the latest with flush(), after what was stored before if the GPU's
    /// memory is coherent, and otherwise in any order.
    void store(std::size_t index, std::uint64_t value) noexcept {
        if (is_coherent_)
            gpu::store_release(word(index), value);
        else
            post(window_.subwindow(index * sizeof value, sizeof value), value);
    }
    void flush() noexcept {
        if (!is_coherent_)
            flush_stores();
    }
    /// Stores one, at once and after all that this thread has stored before.
    void publish(std::size_t index, std::uint64_t value) noexcept {
        flush();
        store(index, value);
        flush();
    }

    [[nodiscard]] arena::part const& part() const noexcept { return part_; }
    [[nodiscard]] std::uintptr_t gpu_address() const noexcept { return part_.gpu_address(); }
    /// For threads that stand for kernels.
    [[nodiscard]] gpu::word* word(std::size_t index) const noexcept {
        return reinterpret_cast<gpu::word*>(part_.data()) + index;
    }

private:
    arena::part part_;
    window window_;
    bool is_coherent_;
};

} // namespace detail
} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
