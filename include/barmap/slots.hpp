// SPDX-License-Identifier: MIT
/// How messages lie in memory that a CPU and running GPU code share: the CPU's side of
/// <barmap/gpu/slots.cuh>.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/copy.hpp>
#include <barmap/gpu/words.cuh>
#include <barmap/signal_words.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace barmap::inline BARMAP_INLINE_NAMESPACE {
namespace detail {

/// A number of bytes that is known when this is compiled. Where it is not, std::size_t.
template <std::size_t Bytes>
using fixed_size = std::integral_constant<std::size_t, Bytes>;

/// A slot to the CPU: one pair of words, or a multiple of 64 bytes. The last word commits.
constexpr std::size_t slot_to_cpu_bytes(std::size_t message) {
    return message <= sizeof(gpu::word) ? 16 : ((message + 7) / 8 * 8 + 8 + 63) / 64 * 64;
}

/// Slots in GPU memory that one CPU thread at a time writes: lines of 64 bytes, each with a commit
/// word of its own behind 56 bytes of the message.
class slots_to_gpu {
public:
    static constexpr std::size_t line_bytes = 64, payload = 56;
    static constexpr std::size_t lines_of(std::size_t message) {
        return (message + payload - 1) / payload;
    }

    /// Zeroed. @throws error as arena::take_gpu()
    slots_to_gpu(arena const& memory, std::size_t count, std::size_t message_bytes)
        : part_(memory.take_gpu(count * lines_of(message_bytes) * line_bytes)),
          window_(part_.window()), lines_(lines_of(message_bytes)),
          how_(publication_for(window_, memory.kind())) {
        fill(window_, std::byte{0});
        flush_stores();
    }

    /// Sets the commit words of a slot without a message.
    void clear(std::size_t slot, std::uint64_t commit) noexcept {
        for (std::size_t line = 0; line < lines_; ++line)
            store_commit((slot * lines_ + line) * line_bytes, commit);
    }

    /// Whether messages are written first, and committed behind a fence.
    [[nodiscard]] bool commits_apart() const noexcept { return how_ == publication::by_words; }

    /// Writes a message, with its commit words unless they go apart.
    template <class Size>
    void write_message(std::size_t slot, std::uint64_t commit, std::byte const* message,
                       Size bytes) noexcept {
        for (std::size_t line = 0; line < lines_of(bytes); ++line) {
            std::size_t const at = (slot * lines_of(bytes) + line) * line_bytes;
            std::byte const* const part = message + line * payload;
            std::size_t const part_bytes = std::min(payload, bytes - line * payload);
            if (how_ == publication::by_line) {
                alignas(line_bytes) std::byte content[line_bytes];
                std::memcpy(content, part, part_bytes);
                std::memcpy(content + payload, &commit, sizeof commit);
                post_line(window_.subwindow(at, line_bytes),
                          std::span<std::byte const, line_bytes>(content));
                continue;
            }
            for (std::size_t i = 0; i < part_bytes; i += sizeof(gpu::word)) {
                std::uint64_t value = 0;
                std::memcpy(&value, part + i, std::min(sizeof value, part_bytes - i));
                if (how_ == publication::coherent) // in order behind what was there before
                    gpu::store_release(reinterpret_cast<gpu::word*>(window_.data + at + i), value);
                else
                    post(window_.subwindow(at + i, sizeof value), value);
            }
            if (how_ == publication::coherent)
                store_commit(at, commit);
        }
    }
    /// Commits a message that was written, after flush_stores().
    template <class Size>
    void commit_message(std::size_t slot, std::uint64_t commit, Size bytes) noexcept {
        for (std::size_t line = 0; line < lines_of(bytes); ++line)
            store_commit((slot * lines_of(bytes) + line) * line_bytes, commit);
    }

    /// Writes and commits a message. It arrives at the latest with flush().
    template <class Size>
    void write(std::size_t slot, std::uint64_t commit, std::byte const* message,
               Size bytes) noexcept {
        write_message(slot, commit, message, bytes);
        if (commits_apart()) {
            flush_stores();
            commit_message(slot, commit, bytes);
        }
    }
    void flush() noexcept {
        if (how_ != publication::coherent)
            flush_stores();
    }

    [[nodiscard]] gpu::word* on_gpu() const noexcept {
        return reinterpret_cast<gpu::word*>(part_.gpu_address());
    }
    /// For threads that stand for kernels.
    [[nodiscard]] gpu::word* on_cpu() const noexcept {
        return reinterpret_cast<gpu::word*>(part_.data());
    }

private:
    void store_commit(std::size_t line_at, std::uint64_t value) noexcept {
        std::size_t const at = line_at + payload;
        if (how_ == publication::coherent)
            gpu::store_release(reinterpret_cast<gpu::word*>(window_.data + at), value);
        else
            post(window_.subwindow(at, sizeof value), value);
    }

    arena::part part_;
    window window_;
    std::size_t lines_;
    publication how_;
};

} // namespace detail
} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
