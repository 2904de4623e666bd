// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// How a transfer is cut up on the GPU side: every access there is naturally aligned, no byte is
/// accessed twice, and an aligned 1, 2, 4 or 8-byte transfer is one access. Written once; a routine
/// adds what moves a whole line.
namespace barmap::copy {

/// A word of GPU memory. It may alias anything, since the caller's types lie there.
template <std::size_t Bytes>
struct gpu_word;
template <>
struct gpu_word<1> {
    typedef std::uint8_t type;
};
template <>
struct gpu_word<2> {
    typedef std::uint16_t __attribute__((may_alias)) type;
};
template <>
struct gpu_word<4> {
    typedef std::uint32_t __attribute__((may_alias)) type;
};
template <>
struct gpu_word<8> {
    typedef std::uint64_t __attribute__((may_alias)) type;
};

/// A width known at compile time, as an argument.
template <std::size_t Bytes>
using width = std::integral_constant<std::size_t, Bytes>;

/// Moves one aligned word. A relaxed atomic access is one instruction of that width, which no
/// compiler splits, repeats or turns into a call of memcpy.
struct store_word {
    template <std::size_t Bytes>
    void operator()(width<Bytes>, std::byte* gpu, std::byte const* host) const noexcept {
        using word = typename gpu_word<Bytes>::type;
        word value;
        std::memcpy(&value, host, Bytes);
        __atomic_store_n(reinterpret_cast<word*>(gpu), value, __ATOMIC_RELAXED);
    }
};
struct load_word {
    template <std::size_t Bytes>
    void operator()(width<Bytes>, std::byte const* gpu, std::byte* host) const noexcept {
        using word = typename gpu_word<Bytes>::type;
        word const value = __atomic_load_n(reinterpret_cast<word const*>(gpu), __ATOMIC_RELAXED);
        std::memcpy(host, &value, Bytes);
    }
};

/// Moves any range as aligned words, as few as there can be, in ascending order.
/// Gpu and Host are std::byte, const on the side that is read.
template <class Gpu, class Host, class Move>
inline void walk_words(Gpu* gpu, Host* host, std::size_t bytes, Move move) noexcept {
    auto const step = [&](auto word) {
        move(word, gpu, host);
        gpu += word;
        host += word;
        bytes -= word;
    };
    auto const odd = [&](std::size_t word) {
        return bytes >= word && (reinterpret_cast<std::uintptr_t>(gpu) & word) != 0;
    };
    // Upwards until the address is aligned to more than what is left; then downwards.
    if (odd(1)) {
        step(width<1>{});
    }
    if (odd(2)) {
        step(width<2>{});
    }
    if (odd(4)) {
        step(width<4>{});
    }
    while (bytes >= 8) {
        step(width<8>{});
    }
    if ((bytes & 4) != 0) {
        step(width<4>{});
    }
    if ((bytes & 2) != 0) {
        step(width<2>{});
    }
    if ((bytes & 1) != 0) {
        step(width<1>{});
    }
}

/// Moves any range as an optional head, a bulk of whole lines, and an optional tail.
/// @tparam Line bytes of a line; a power of 2
/// @param edge  edge(gpu, host, n): 0 < n < Line, all of it inside one line
/// @param bulk  bulk(gpu, host, n): gpu is aligned to a line, n is a positive multiple of one
template <std::size_t Line, class Gpu, class Host, class Edge, class Bulk>
inline void walk(Gpu* gpu, Host* host, std::size_t bytes, Edge edge, Bulk bulk) noexcept {
    static_assert(std::has_single_bit(Line));
    auto const step = [&](auto move, std::size_t count) {
        if (count != 0) {
            move(gpu, host, count);
            gpu += count;
            host += count;
            bytes -= count;
        }
    };
    std::size_t const to_line = -reinterpret_cast<std::uintptr_t>(gpu) % Line;
    step(edge, std::min(bytes, to_line));
    step(bulk, bytes - bytes % Line);
    step(edge, bytes);
}

/// The edge of a routine that has nothing better than words.
inline void store_edge(std::byte* gpu, std::byte const* host, std::size_t bytes) noexcept {
    walk_words(gpu, host, bytes, store_word{});
}
inline void load_edge(std::byte const* gpu, std::byte* host, std::size_t bytes) noexcept {
    walk_words(gpu, host, bytes, load_word{});
}

/// Whether a transfer is one aligned word, which must be one access of its width.
inline bool is_word(std::uintptr_t address, std::size_t bytes) noexcept {
    return bytes != 0 && bytes <= 8 && (bytes & (bytes - 1)) == 0 && (address & (bytes - 1)) == 0;
}

/// Stores one aligned word. @pre is_word(gpu, bytes)
inline void store_one_word(std::byte* gpu, std::byte const* host, std::size_t bytes) noexcept {
    switch (bytes) {
    case 1:
        return store_word{}(width<1>{}, gpu, host);
    case 2:
        return store_word{}(width<2>{}, gpu, host);
    case 4:
        return store_word{}(width<4>{}, gpu, host);
    default:
        return store_word{}(width<8>{}, gpu, host);
    }
}

/// Loads one aligned word, behind a fence and with nothing between the two. @pre is_word(gpu,
/// bytes)
template <class Fence>
inline void load_one_word(std::byte const* gpu, std::byte* host, std::size_t bytes,
                          Fence fence) noexcept {
    auto const load = [&](auto word) {
        fence();
        load_word{}(word, gpu, host);
    };
    switch (bytes) {
    case 1:
        return load(width<1>{});
    case 2:
        return load(width<2>{});
    case 4:
        return load(width<4>{});
    default:
        return load(width<8>{});
    }
}

/// The edge of a routine with streaming loads: fetches the whole line, once, and keeps what is
/// wanted of it, so that any edge costs one round trip to the GPU. The other bytes that it
/// reads lie in the same line, hence in the same page, and reading GPU memory has no effect.
/// A single aligned word stays a single access of its width.
/// @param take take(line, host, first, n) fetches the line and stores n of its bytes from first on
template <std::size_t Line, class Take>
inline void load_line_edge(std::byte const* gpu, std::byte* host, std::size_t bytes,
                           Take take) noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(gpu);
    if (is_word(address, bytes)) {
        walk_words(gpu, host, bytes, load_word{});
    } else {
        take(gpu - address % Line, host, address % Line, bytes);
    }
}

/// Kernels are listed with untyped pointers.
inline std::byte* at(void* address) noexcept {
    return static_cast<std::byte*>(address);
}
inline std::byte const* at(void const* address) noexcept {
    return static_cast<std::byte const*>(address);
}

} // namespace barmap::copy
