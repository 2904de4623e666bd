// SPDX-License-Identifier: MIT
#include "transfer/cpu/fence.hpp"
#include "transfer/cpu/instruction_sets.hpp"
#include "transfer/cpu/walk.hpp"

#include <array>
#include <immintrin.h>
#include <utility>

#define BARMAP_TARGET [[gnu::target("avx512f,avx512bw")]]

namespace barmap::copy::avx512 {

namespace {

constexpr std::size_t line = sizeof(__m512i);

// GPU-side accesses are written as assembly: a plain vector loop may become a call of memcpy.
struct plain {
    BARMAP_TARGET static inline void put(std::byte* gpu, __m512i value) noexcept {
        __asm__ volatile("vmovdqa64 %1, %0" : "=m"(*reinterpret_cast<__m512i*>(gpu)) : "v"(value));
    }
};
struct streaming {
    BARMAP_TARGET static inline void put(std::byte* gpu, __m512i value) noexcept {
        __asm__ volatile("vmovntdq %1, %0" : "=m"(*reinterpret_cast<__m512i*>(gpu)) : "v"(value));
    }
};
BARMAP_TARGET inline __m512i get(std::byte const* gpu) noexcept {
    __m512i value;
    __asm__ volatile("vmovntdqa %1, %0"
                     : "=v"(value)
                     : "m"(*reinterpret_cast<__m512i const*>(gpu)));
    return value;
}

template <class Way>
BARMAP_TARGET void store_lines(std::byte* gpu, std::byte const* host, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; i += line) {
        Way::put(gpu + i, _mm512_loadu_si512(host + i));
    }
}

/// Which bytes of the first and of the last line of a range are wanted.
struct ends {
    __mmask64 first, last;
};

/// Moves whole lines, fewer than there are registers, with no branch between the loads, so that all
/// are in flight at once. Stores only the wanted bytes.
template <unsigned Lines>
BARMAP_TARGET inline void move_lines(std::byte const* gpu, std::byte* host, ends wanted) noexcept {
    __m512i values[Lines];
#pragma GCC unroll 16
    for (unsigned k = 0; k < Lines; ++k) {
        values[k] = get(gpu + k * line);
    }
    if constexpr (Lines == 1) {
        _mm512_mask_storeu_epi8(host, wanted.first & wanted.last, values[0]);
    } else {
        _mm512_mask_storeu_epi8(host, wanted.first, values[0]);
#pragma GCC unroll 16
        for (unsigned k = 1; k + 1 < Lines; ++k) {
            _mm512_storeu_si512(host + k * line, values[k]);
        }
        _mm512_mask_storeu_epi8(host + (Lines - 1) * line, wanted.last, values[Lines - 1]);
    }
}

template <unsigned Lines>
BARMAP_TARGET void move_lines_held(std::byte const* gpu, std::byte* host, ends wanted) noexcept {
    speculation_barrier();
    move_lines<Lines>(gpu, host, wanted);
}

using mover = void (*)(std::byte const*, std::byte*, ends) noexcept;
constexpr unsigned group = 16; // fill buffers of the CPU: more loads than these wait anyway

template <unsigned... Less>
constexpr std::array<mover, group> movers(std::integer_sequence<unsigned, Less...>) {
    return {move_lines_held<Less + 1>...};
}
constexpr std::array<mover, group> move_up_to_group =
    movers(std::make_integer_sequence<unsigned, group>{});

// The number of lines in flight limits the rate: 16, of about 1 us each. A mispredicted branch must
// therefore not start wrong loads: they hold fill buffers for a whole round trip, so that a
// transfer of four lines took 2.1 us instead of 1.1 on an H200. Hence one jump, by the number of
// lines, and a barrier behind it.
BARMAP_TARGET void load_lines(std::byte const* gpu, std::byte* host, std::size_t lines,
                              ends wanted) noexcept {
    if (lines > group) {
        speculation_barrier();
        for (; lines > group; lines -= group) {
            move_lines<group>(gpu, host, {wanted.first, ~__mmask64{0}});
            wanted.first = ~__mmask64{0};
            gpu += group * line;
            host += group * line;
        }
    }
    move_up_to_group[lines - 1](gpu, host, wanted);
}

} // namespace

void store(void* gpu, void const* host, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, store_edge, store_lines<plain>);
}

void store_streaming(void* gpu, void const* host, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, store_edge, store_lines<streaming>);
}

void load(void* host, void const* gpu, std::size_t bytes) noexcept {
    if (bytes != 0) {
        std::size_t const skip = reinterpret_cast<std::uintptr_t>(gpu) % line;
        std::size_t const end = skip + bytes;
        ends const wanted{~__mmask64{0} << skip, ~__mmask64{0} >> (-end % line)};
        load_lines(at(gpu) - skip, at(host) - skip, (end + line - 1) / line, wanted);
    }
}

BARMAP_TARGET void post_line(void* gpu, void const* from) noexcept {
    plain::put(at(gpu), _mm512_loadu_si512(from));
}

} // namespace barmap::copy::avx512

#undef BARMAP_TARGET
