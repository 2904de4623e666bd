// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/values.hpp>
#include <barmap/window.hpp>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

/// @file
/// The hot path. No function in this header throws, locks, allocates, logs, makes a system call or
/// reads the environment. Bounds are preconditions, which your debug builds assert. Several threads
/// may call these functions on one mapping at once; overlapping writes are the caller's race, as
/// with memcpy. The ordering rules are in share/doc/barmap/ordering.md.
namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// A trivially copyable type of 1, 2, 4 or 8 bytes.
template <class Word>
concept postable = std::is_trivially_copyable_v<Word> &&
    (sizeof(Word) == 1 || sizeof(Word) == 2 || sizeof(Word) == 4 || sizeof(Word) == 8);

/// Copies bytes to the start of the window (CPU to GPU memory) by stores alone, which leave this
/// CPU before any later store of this thread (share/doc/barmap/ordering.md, O1). An aligned 1, 2, 4
/// or 8-byte write is one transaction. Python's Mapping.write() is mapping::copy_to_gpu() instead.
///
///     barmap::write(map.window(), std::as_bytes(std::span(samples)));
///
/// @pre bytes.size() <= to.size
void write(window to, std::span<std::byte const> bytes) noexcept;

/// The same for values of a trivially copyable type.
///
///     std::vector<float> const weights(1000, 0.5F);
///     barmap::write(map.window(4096, 4000), weights);
///
/// @pre their bytes fit into the window
template <class Values>
requires copyable_values<Values const&>
void write(window to, Values const& values) noexcept;

/// Copies from the start of the window (GPU memory to CPU) by loads alone. Never delivers a value
/// older than one that this thread has already read from the same address. An aligned 1, 2, 4 or
/// 8-byte read is one transaction. Python's Mapping.read() is mapping::copy_to_cpu() instead.
///
///     std::array<std::byte, 256> bytes;
///     barmap::read(std::span(bytes).first(100), map.window());
///
/// @pre bytes.size() <= from.size
void read(std::span<std::byte> bytes, window from) noexcept;

/// The same into values of a trivially copyable type: all of them are read.
///
///     std::array<double, 4> sums;
///     barmap::read(sums, map.window(64, 32));
///
/// @pre their bytes fit into the window
template <assignable_values Values>
void read(Values&& values, window from) noexcept;

/// Sets every byte of the window; ordered as write().
///
///     barmap::fill(map.window(), std::byte{0});
///
void fill(window to, std::byte value) noexcept;

/// Stores one aligned word to the start of the window, with no fence, as for a doorbell. The word
/// is one transaction; it leaves the CPU at once with MOVDIRI, otherwise at the latest with
/// flush_stores().
///
///     barmap::post(map.window(0, 4), std::uint32_t{1});
///
/// @pre the window's start is aligned to sizeof(Word) and holds a Word
template <postable Word>
void post(window to, Word value) noexcept;

/// Stores one 64-byte line to the start of the window, with no fence. It is one transaction if the
/// CPU can make one (MOVDIR64B, a full-width AVX-512 store); otherwise the write-combining buffer
/// normally makes it one.
/// @pre the window's start is 64-byte aligned and holds 64 bytes
void post_line(window to, std::span<std::byte const, 64> line) noexcept;

/// The same for an object of 64 bytes.
///
///     struct message { std::uint64_t number; double payload[7]; };
///     barmap::post_line(map.window(128, 64), message{1, {}});
///
template <class Line>
requires(std::is_trivially_copyable_v<Line> &&
         sizeof(Line) == 64) void post_line(window to, Line const& line) noexcept;

/// Makes every earlier write-combining store of this thread leave the CPU before any later store.
/// Contract and errors: barmap_flush_stores().
inline void flush_stores() noexcept {
    barmap_flush_stores();
}

/// Makes every later load of this thread happen after every earlier load of it.
/// Contract and errors: barmap_order_loads().
inline void order_loads() noexcept {
    barmap_order_loads();
}

namespace detail {

inline bool aligned(void const* address, std::size_t to) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) % to == 0;
}

/// A copy_plan has standard layout, and this is its first member.
inline barmap_plan_head const& head(window of) noexcept {
    return *reinterpret_cast<barmap_plan_head const*>(of.plan);
}

/// Keeps this CPU core from issuing instructions for a moment.
inline void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); // YIELD does nothing on most
#elif defined(__powerpc64__)
    __asm__ volatile("or 27,27,27");
#endif
}

} // namespace detail

// Inline, and no window is passed on: as an argument it would be stored to the stack, and stores
// next to those to write-combining memory cost time.
inline void write(window to, std::span<std::byte const> bytes) noexcept {
    assert(bytes.size() <= to.size);
    barmap_copy_write(to.data, bytes.data(), bytes.size(), to.plan);
}

inline void read(std::span<std::byte> bytes, window from) noexcept {
    assert(bytes.size() <= from.size);
    barmap_copy_read(bytes.data(), from.data, bytes.size(), from.plan);
}

template <class Values>
requires copyable_values<Values const&>
void write(window to, Values const& values) noexcept {
    write(to, std::span<std::byte const>(std::as_bytes(std::span(values))));
}

template <assignable_values Values>
void read(Values&& values, window from) noexcept {
    read(std::span<std::byte>(std::as_writable_bytes(std::span(values))), from);
}

inline void fill(window to, std::byte value) noexcept {
    barmap_copy_fill(to.data, std::to_integer<unsigned char>(value), to.size, to.plan);
}

// The posts are inline where they are one instruction: a call pushes a return address, and a direct
// store with an ordinary store behind it takes 10 ns instead of 3 (Sapphire Rapids).
template <postable Word>
inline void post(window to, Word value) noexcept {
    assert(to.size >= sizeof value && detail::aligned(to.data, sizeof value));
#if defined(__x86_64__)
    if constexpr (sizeof(Word) >= 4) {
        using bits_type = std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>;
        bits_type bits;
        std::memcpy(&bits, &value, sizeof bits);
        if (detail::head(to).direct_words) {
            __asm__ volatile("movdiri %1, %0"
                             : "=m"(*reinterpret_cast<unsigned char(*)[sizeof(Word)]>(to.data))
                             : "r"(bits));
            return;
        }
    }
#endif
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    barmap_copy_post_word(to.data, bits, sizeof value, to.plan);
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
    barmap_copy_post_line(to.data, line.data(), to.plan);
}

template <class Line>
requires(std::is_trivially_copyable_v<Line> &&
         sizeof(Line) == 64) inline void post_line(window to, Line const& line) noexcept {
    post_line(to, std::span<std::byte const, 64>(reinterpret_cast<std::byte const*>(&line), 64));
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

/// Reads one object with read_value(), again and again, until the predicate is true for it or the
/// deadline has passed. Between two reads it pauses, at first for a few nanoseconds and then for up
/// to about a microsecond, so that the link to the GPU stays free for others.
///
/// A kernel counts finished items in GPU memory, and the CPU waits for the tenth:
///
///     auto const done = barmap::read_until<std::uint32_t>(
///         map.window(0, 4), [](std::uint32_t count) { return count >= 10; },
///         std::chrono::steady_clock::now() + std::chrono::milliseconds(5));
///     if (!done)
///         throw std::runtime_error("the kernel did not answer in time");
///
/// @return the object for which the predicate was true; nothing if it was false even for an object
///         read at the deadline or later. There is at least one read, even if the deadline has
///         passed
/// @throws only what the predicate throws
/// @pre sizeof(Value) <= from.size
template <class Value, class Predicate>
requires(std::is_trivially_copyable_v<Value>&& std::predicate<Predicate&, Value const&>)
    [[nodiscard]] std::optional<Value> read_until(
        window from, Predicate predicate,
        std::chrono::steady_clock::time_point
            deadline) noexcept(std::is_nothrow_invocable_v<Predicate&, Value const&>) {
    constexpr int most_pauses = 16; // 0.7 us where PAUSE takes 140 cycles
    for (int pauses = 1;; pauses = std::min(2 * pauses, most_pauses)) {
        bool const last = std::chrono::steady_clock::now() >= deadline;
        Value const value = read_value<Value>(from);
        if (predicate(value))
            return value;
        if (last)
            return std::nullopt;
        for (int i = 0; i < pauses; ++i)
            detail::pause();
    }
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
