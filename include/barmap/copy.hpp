// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/window.hpp>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

/// The hot path. Nothing here throws, locks, allocates, logs, makes a system call or reads the
/// environment. Bounds are preconditions, asserted in debug builds of yours.
/// Several threads may call these on one mapping at once; overlapping writes are the caller's race,
/// as with memcpy. What each call promises to the GPU is share/doc/barmap/ordering.md.
namespace barmap {

/// Copies bytes to the start of the window (CPU to GPU memory).
/// Its stores leave this CPU before any later store of this thread
/// (share/doc/barmap/ordering.md, O1). An aligned 1, 2, 4 or 8-byte write is one transaction.
/// @pre bytes.size() <= to.size
void write(window to, std::span<std::byte const> bytes) noexcept;

/// Copies from the start of the window (GPU memory to CPU).
/// Never delivers a value older than one that this thread has already read from the same address.
/// An aligned 1, 2, 4 or 8-byte read is one transaction.
/// @pre bytes.size() <= from.size
void read(std::span<std::byte> bytes, window from) noexcept;

/// Issues one aligned word to the start of the window, with no fence: a doorbell.
/// The word is one transaction; when it leaves the CPU is up to the CPU (at once with MOVDIRI,
/// at the latest with flush_stores()).
/// @pre the window's start is aligned to sizeof(Word) and holds a Word
template <class Word>
requires(std::is_trivially_copyable_v<Word> &&
         (sizeof(Word) == 1 || sizeof(Word) == 2 || sizeof(Word) == 4 ||
          sizeof(Word) == 8)) void post(window to, Word word) noexcept;

/// Issues one 64-byte line to the start of the window, with no fence.
/// One transaction where the CPU can (MOVDIR64B, a full-width AVX-512 store); otherwise the
/// write-combining buffer normally makes it one.
/// @pre the window's start is 64-byte aligned and holds 64 bytes
void post_line(window to, std::span<std::byte const, 64> line) noexcept;

/// Makes every earlier write-combining store of this thread leave the CPU before any later store.
/// x86: SFENCE. arm64: DSB ST. ppc64le: SYNC.
BARMAP_API void flush_stores() noexcept;

/// Makes every later load of this thread happen after every earlier load of it, streaming loads
/// included. x86: MFENCE. arm64: DMB LD. ppc64le: SYNC.
BARMAP_API void order_loads() noexcept;

namespace detail {

BARMAP_API void write_bytes(std::byte* gpu, std::byte const* host, std::size_t bytes,
                            copy_plan const& plan) noexcept;
BARMAP_API void read_bytes(std::byte* host, std::byte const* gpu, std::size_t bytes,
                           copy_plan const& plan) noexcept;
BARMAP_API void post_word(window to, std::uint64_t word, unsigned bytes) noexcept;
BARMAP_API void post_line(window to, void const* line) noexcept;

inline bool aligned(void const* address, std::size_t to) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) % to == 0;
}

/// A copy_plan has standard layout, and this is its first member.
inline copy_plan_head const& head(window of) noexcept {
    return *reinterpret_cast<copy_plan_head const*>(of.plan);
}

} // namespace detail

// Inline, so that a window stays in registers: as an argument it would be stored to the stack, and
// stores next to those to write-combining memory cost time.
inline void write(window to, std::span<std::byte const> bytes) noexcept {
    assert(bytes.size() <= to.size);
    detail::write_bytes(to.data, bytes.data(), bytes.size(), *to.plan);
}

inline void read(std::span<std::byte> bytes, window from) noexcept {
    assert(bytes.size() <= from.size);
    detail::read_bytes(bytes.data(), from.data, bytes.size(), *from.plan);
}

// The posts are inline where they are one instruction: a call pushes a return address, and a direct
// store with an ordinary store behind it takes 10 ns instead of 3 (Sapphire Rapids).
template <class Word>
requires(std::is_trivially_copyable_v<Word> &&
         (sizeof(Word) == 1 || sizeof(Word) == 2 || sizeof(Word) == 4 ||
          sizeof(Word) == 8)) inline void post(window to, Word word) noexcept {
    assert(to.size >= sizeof word && detail::aligned(to.data, sizeof word));
#if defined(__x86_64__)
    if constexpr (sizeof(Word) >= 4) {
        using bits_type = std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>;
        bits_type bits;
        std::memcpy(&bits, &word, sizeof bits);
        if (detail::head(to).direct_words) {
            __asm__ volatile("movdiri %1, %0"
                             : "=m"(*reinterpret_cast<unsigned char(*)[sizeof(Word)]>(to.data))
                             : "r"(bits));
            return;
        }
    }
#endif
    std::uint64_t bits = 0;
    std::memcpy(&bits, &word, sizeof word);
    detail::post_word(to, bits, sizeof word);
}

inline void post_line(window to, std::span<std::byte const, 64> line) noexcept {
    assert(to.size >= line.size() && detail::aligned(to.data, line.size()));
#if defined(__x86_64__)
    if (detail::head(to).direct_lines) {
        __asm__ volatile("movdir64b %2, %1"
                         : "=m"(*reinterpret_cast<unsigned char(*)[64]>(to.data))
                         : "r"(to.data),
                           "m"(*reinterpret_cast<unsigned char const(*)[64]>(line.data())));
        return;
    }
#endif
    detail::post_line(to, line.data());
}

/// Writes one object. @pre sizeof(Value) <= to.size
template <class Value>
requires std::is_trivially_copyable_v<Value>
void write_value(window to, Value const& value) noexcept {
    write(to, std::as_bytes(std::span<Value const, 1>(&value, 1)));
}

/// Reads one object. @pre sizeof(Value) <= from.size
template <class Value>
requires std::is_trivially_copyable_v<Value>
[[nodiscard]] Value read_value(window from) noexcept {
    Value value;
    read(std::as_writable_bytes(std::span<Value, 1>(&value, 1)), from);
    return value;
}

} // namespace barmap
