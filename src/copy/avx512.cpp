// SPDX-License-Identifier: MIT
#include "copy/instruction_sets.hpp"
#include "copy/walk.hpp"

#include <immintrin.h>

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

BARMAP_TARGET void take(std::byte const* gpu, std::byte* host, std::size_t first,
                        std::size_t bytes) noexcept {
    __mmask64 const wanted = (~std::uint64_t{0} >> (line - bytes)) << first;
    _mm512_mask_storeu_epi8(host - first, wanted, get(gpu)); // touches the wanted bytes only
}

BARMAP_TARGET void load_part(std::byte const* gpu, std::byte* host, std::size_t bytes) noexcept {
    load_line_edge<line>(gpu, host, bytes, take);
}

// The rate is bounded by how many lines are under way (about 1 us each, some 16 fill buffers), so
// the loads of a group are issued before the first result is needed.
BARMAP_TARGET void load_lines(std::byte const* gpu, std::byte* host, std::size_t bytes) noexcept {
    constexpr std::size_t group = 16;
    std::size_t i = 0;
    for (; bytes - i >= group * line; i += group * line) {
        __m512i values[group];
#pragma GCC unroll 16
        for (std::size_t k = 0; k < group; ++k) {
            values[k] = get(gpu + i + k * line);
        }
#pragma GCC unroll 16
        for (std::size_t k = 0; k < group; ++k) {
            _mm512_storeu_si512(host + i + k * line, values[k]);
        }
    }
    for (; i < bytes; i += line) {
        _mm512_storeu_si512(host + i, get(gpu + i));
    }
}

} // namespace

void store(void* gpu, void const* host, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, store_edge, store_lines<plain>);
}

void store_streaming(void* gpu, void const* host, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, store_edge, store_lines<streaming>);
}

void load(void* host, void const* gpu, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, load_part, load_lines);
}

BARMAP_TARGET void post_line(void* gpu, void const* from) noexcept {
    plain::put(at(gpu), _mm512_loadu_si512(from));
}

} // namespace barmap::copy::avx512
