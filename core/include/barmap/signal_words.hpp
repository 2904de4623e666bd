// SPDX-License-Identifier: MIT
/// The building blocks of rings, counters and calls between a CPU and running GPU code.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/copy.hpp>
#include <barmap/gpu/words.cuh>
#include <barmap/waits.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {
namespace detail {

/// For tests: makes rings and calls whose numbers do not begin at 0, so that they wrap soon.
struct first_number {
    template <class Signal>
    static Signal of(arena const& memory, std::size_t slots, std::uint64_t first) {
        return Signal(memory, slots, first);
    }
};

/// By a GPU address.
inline gpu::word* word_at(std::uintptr_t address) noexcept {
    return reinterpret_cast<gpu::word*>(address);
}

/// How the CPU publishes lines in GPU memory.
enum class publication {
    by_line,  ///< message and commit word in one transaction (MOVDIR64B)
    by_words, ///< message, fence, commit word: write-combining buffers may leave in any order
    coherent  ///< ordinary memory: the commit word is stored with release
};

/// The method that suits a mapping.
[[nodiscard]] inline publication publication_for(window to, cache_kind kind) noexcept {
    if (kind == cache_kind::cached)
        return publication::coherent;
    return head(to).direct_lines ? publication::by_line : publication::by_words;
}

/// Keeps later stores of this thread to GPU memory behind its earlier loads.
inline void order_loads_before_stores() noexcept {
#if defined(__x86_64__)
    std::atomic_signal_fence(std::memory_order_seq_cst); // the processor keeps that order
#else
    order_loads();
#endif
}

/// Polls until `look` returns true, or the time is over.
template <class Look>
bool look_until(Look const& look, std::chrono::nanoseconds at_most) noexcept {
    using clock = std::chrono::steady_clock;
    constexpr int looks_per_time = 64;
    clock::time_point const until = end_of_wait(at_most);
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
    /// Zeroed, unless the arena was opened: then with their contents. @throws error as
    /// arena::take_gpu()
    words_to_gpu(arena const& memory, std::size_t count)
        : part_(memory.take_gpu(count * sizeof(gpu::word))), window_(part_.window()),
          is_coherent_(memory.kind() == cache_kind::cached) {
        if (memory.opened())
            return;
        fill(window_, std::byte{0});
        flush_stores();
    }

    /// Stores a word. It arrives at the latest with flush(): after earlier stores if the GPU's
    /// memory is coherent, otherwise in any order.
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
    /// Stores a word, at once and after all that this thread has stored before.
    void publish(std::size_t index, std::uint64_t value) noexcept {
        flush();
        store(index, value);
        flush();
    }

    [[nodiscard]] arena::part const& part() const noexcept { return part_; }
    [[nodiscard]] std::uintptr_t gpu_address() const noexcept { return part_.gpu_address(); }
    /// The address for threads that act as kernels.
    [[nodiscard]] gpu::word* word(std::size_t index) const noexcept {
        return reinterpret_cast<gpu::word*>(part_.data()) + index;
    }

private:
    arena::part part_;
    window window_;
    bool is_coherent_;
};

} // namespace detail
} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
