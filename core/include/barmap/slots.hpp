// SPDX-License-Identifier: MIT
/// The layout of messages in memory that a CPU and running GPU code share: the CPU's side of
/// <barmap/gpu/slots.cuh>.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/copy.hpp>
#include <barmap/gpu/slots.cuh>
#include <barmap/signal_words.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {
namespace detail {

/// A number of bytes that is known at compile time; others are a std::size_t.
template <std::size_t Bytes>
using fixed_size = std::integral_constant<std::size_t, Bytes>;

/// A slot to the CPU: one pair of words, or a multiple of 64 bytes. The last word commits.
constexpr std::size_t slot_to_cpu_bytes(std::size_t message) {
    return message <= sizeof(gpu::word) ? 16 : ((message + 7) / 8 * 8 + 8 + 63) / 64 * 64;
}

/// Slots in GPU memory that one CPU thread at a time writes, with the layout of
/// <barmap/gpu/slots.cuh>.
class slots_to_gpu {
public:
    static constexpr std::size_t line_bytes = gpu::layout_to_gpu::line_bytes;
    static constexpr std::size_t line_words = gpu::layout_to_gpu::line_words;
    static constexpr std::size_t payload = gpu::layout_to_gpu::line_payload * sizeof(gpu::word);
    static constexpr std::size_t most_in_pairs =
        gpu::layout_to_gpu::most_in_pairs * sizeof(gpu::word);
    static constexpr std::size_t lines_of(std::size_t message) {
        return message <= most_in_pairs ? 1 : (message + payload - 1) / payload;
    }

    /// Zeroed, unless the arena was opened: then with their contents. @throws error as
    /// arena::take_gpu()
    slots_to_gpu(arena const& memory, std::size_t count, std::size_t message_bytes)
        : part_(memory.take_gpu(count * lines_of(message_bytes) * line_bytes)),
          window_(part_.window()), message_bytes_(message_bytes),
          how_(publication_for(window_, memory.kind())) {
        if (memory.opened())
            return;
        fill(window_, std::byte{0});
        flush_stores();
    }

    /// Sets the commit words of a slot without a message.
    void clear(std::size_t slot, std::uint64_t commit) noexcept {
        commit_message(slot, commit, message_bytes_);
    }

    /// How many of a slot's commit words have this value: all of them if its message is complete.
    [[nodiscard]] gpu::word count_commits(std::size_t slot, std::uint64_t commit) const noexcept {
        gpu::word const* const at = on_cpu() + slot * lines_of(message_bytes_) * line_words;
        gpu::word const words = words_of(message_bytes_);
        gpu::word count = 0;
        for (gpu::word i = 0; i < gpu::detail::count_of_commits(words); ++i)
            count += gpu::load_acquire(at + gpu::detail::place_of_commit(i, words)) == commit;
        return count;
    }
    [[nodiscard]] bool is_whole(std::size_t slot, std::uint64_t commit) const noexcept {
        return count_commits(slot, commit) ==
            gpu::detail::count_of_commits(words_of(message_bytes_));
    }

    /// Repairs a slot in which a process was killed while it committed a message, so that some
    /// commit words are those of the message and others those of the round before.
    /// @return true if the slot now has the message, false if it has none
    bool mend(std::size_t slot, std::uint64_t commit, std::uint64_t before) noexcept {
        bool const is_in_pairs = gpu::detail::is_in_pairs(words_of(message_bytes_));
        // Pairs are committed one by one, only after the whole message. With lines, a reader may
        // have seen a commit word that this call resets, and then polls only for the last one: so
        // the next message must be written before its last commit word.
        if (!is_in_pairs && how_ == publication::by_line)
            how_ = publication::by_words;
        commit_message(slot, is_in_pairs ? commit : before, message_bytes_);
        flush();
        return is_in_pairs;
    }

    /// Whether messages are written first, and committed after a fence.
    [[nodiscard]] bool commits_apart() const noexcept { return how_ == publication::by_words; }

    /// Writes a message, with its commit words unless commits_apart().
    template <class Size>
    void write_message(std::size_t slot, std::uint64_t commit, std::byte const* message,
                       Size bytes) noexcept {
        if (how_ == publication::by_line) {
            for (std::size_t line = 0; line < lines_of(bytes); ++line)
                write_line(slot * lines_of(bytes) + line, commit, message + line * payload,
                           std::min(bytes <= most_in_pairs ? most_in_pairs : payload,
                                    bytes - line * payload),
                           bytes);
            return;
        }
        std::size_t const at = slot * lines_of(bytes) * line_bytes;
        for (std::size_t i = 0; i < bytes; i += sizeof(gpu::word)) {
            std::uint64_t value = 0;
            std::memcpy(&value, message + i, std::min(sizeof value, bytes - i));
            store(at + place_of_word(i / sizeof value, bytes), value);
        }
        if (how_ == publication::coherent)
            commit_message(slot, commit, bytes);
    }
    /// Commits a message that was written, after flush_stores().
    template <class Size>
    void commit_message(std::size_t slot, std::uint64_t commit, Size bytes) noexcept {
        std::size_t const at = slot * lines_of(bytes) * line_bytes;
        gpu::word const words = words_of(bytes);
        for (gpu::word i = 0; i < gpu::detail::count_of_commits(words); ++i)
            store(at + gpu::detail::place_of_commit(i, words) * sizeof(gpu::word), commit);
    }

    /// Writes and commits a message. It arrives at the latest with let_go().
    template <class Size>
    void write(std::size_t slot, std::uint64_t commit, std::byte const* message,
               Size bytes) noexcept {
        write_message(slot, commit, message, bytes);
        if (commits_apart()) {
            flush_stores();
            commit_message(slot, commit, bytes);
        }
    }
    /// Makes earlier writes leave before this thread's later ones.
    void flush() noexcept {
        if (how_ != publication::coherent)
            flush_stores();
    }
    /// Makes written messages arrive without waiting for more. Direct stores (MOVDIR64B) need no
    /// help.
    void let_go() noexcept {
        if (how_ == publication::by_words)
            flush_stores();
    }

    [[nodiscard]] arena::part const& part() const noexcept { return part_; }
    [[nodiscard]] gpu::word* on_gpu() const noexcept {
        return reinterpret_cast<gpu::word*>(part_.gpu_address());
    }
    /// The address for threads that act as kernels.
    [[nodiscard]] gpu::word* on_cpu() const noexcept {
        return reinterpret_cast<gpu::word*>(part_.data());
    }

private:
    static constexpr gpu::word words_of(std::size_t bytes) { return (bytes + 7) / 8; }
    static std::size_t place_of_word(std::size_t index, std::size_t bytes) noexcept {
        return gpu::detail::place_of_word(index, words_of(bytes)) * sizeof(gpu::word);
    }
    /// Stores a word; if memory is coherent, after all earlier stores.
    void store(std::size_t at, std::uint64_t value) noexcept {
        if (how_ == publication::coherent)
            gpu::store_release(reinterpret_cast<gpu::word*>(window_.data + at), value);
        else
            post(window_.subwindow(at, sizeof value), value);
    }
    static std::uint64_t word_at(std::byte const* of, std::size_t index,
                                 std::size_t bytes) noexcept {
        std::uint64_t value = 0;
        std::size_t const at = index * sizeof value;
        if (at < bytes)
            std::memcpy(&value, of + at, std::min(sizeof value, bytes - at));
        __asm__("" : "+r"(value));
        return value;
    }
    /// @param part  the bytes for this line
    /// @param bytes size of the whole message
    template <class Size>
    void write_line(std::size_t line, std::uint64_t commit, std::byte const* part,
                    std::size_t part_bytes, Size bytes) noexcept {
        // Word by word: wider loads would wait until the caller's narrower stores have left the CPU's
        // store buffer, which costs more than the rest.
        alignas(line_bytes) std::uint64_t content[line_bytes / sizeof(gpu::word)];
        if (bytes <= most_in_pairs) {
            for (std::size_t i = 0; i < gpu::layout_to_gpu::most_in_pairs; ++i) {
                content[i * 2] = word_at(part, i, part_bytes);
                content[i * 2 + 1] = commit;
            }
        } else if (part_bytes == payload) { // most lines, with nothing to compare
            for (std::size_t i = 0; i < gpu::layout_to_gpu::line_payload; ++i)
                content[i] = word_at(part, i, payload);
        } else {
            for (std::size_t i = 0; i < gpu::layout_to_gpu::line_payload; ++i)
                content[i] = word_at(part, i, part_bytes);
        }
        content[gpu::layout_to_gpu::line_payload] = commit; // also that of the last pair
        post_line(window_.subwindow(line * line_bytes, line_bytes),
                  std::span<std::byte const, line_bytes>(
                      reinterpret_cast<std::byte const*>(content), line_bytes));
    }

    arena::part part_;
    window window_;
    std::size_t message_bytes_;
    publication how_;
};

} // namespace detail
} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
