// SPDX-License-Identifier: MIT
#include "copy/instruction_sets.hpp"
#include "copy/walk.hpp"

#include <immintrin.h>

#define BARMAP_TARGET [[gnu::target("avx2")]]

namespace barmap::copy::avx2 {

namespace {

constexpr std::size_t line = sizeof(__m256i);

// GPU-side accesses are written as assembly: a plain vector loop may become a call of memcpy.
BARMAP_TARGET inline void put(std::byte* gpu, __m256i value) noexcept {
    __asm__ volatile("vmovdqa %1, %0" : "=m"(*reinterpret_cast<__m256i*>(gpu)) : "x"(value));
}
BARMAP_TARGET inline __m256i get(std::byte const* gpu) noexcept {
    __m256i value;
    __asm__ volatile("vmovntdqa %1, %0"
                     : "=x"(value)
                     : "m"(*reinterpret_cast<__m256i const*>(gpu)));
    return value;
}

BARMAP_TARGET void store_lines(std::byte* gpu, std::byte const* host, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; i += line) {
        put(gpu + i, _mm256_loadu_si256(reinterpret_cast<__m256i const*>(host + i)));
    }
}

BARMAP_TARGET void take(std::byte const* gpu, std::byte* host, std::size_t first,
                        std::size_t bytes) noexcept {
    std::byte bounce[line];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(bounce), get(gpu));
    std::memcpy(host, bounce + first, bytes);
}

BARMAP_TARGET void load_part(std::byte const* gpu, std::byte* host, std::size_t bytes) noexcept {
    load_line_edge<line>(gpu, host, bytes, take);
}

BARMAP_TARGET void load_lines(std::byte const* gpu, std::byte* host, std::size_t bytes) noexcept {
    constexpr std::size_t group = 8; // loads that are issued before the first result is needed
    std::size_t i = 0;
    for (; bytes - i >= group * line; i += group * line) {
        __m256i values[group];
#pragma GCC unroll 8
        for (std::size_t k = 0; k < group; ++k) {
            values[k] = get(gpu + i + k * line);
        }
#pragma GCC unroll 8
        for (std::size_t k = 0; k < group; ++k) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(host + i + k * line), values[k]);
        }
    }
    for (; i < bytes; i += line) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(host + i), get(gpu + i));
    }
}

} // namespace

void store(void* gpu, void const* host, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, store_edge, store_lines);
}

void load(void* host, void const* gpu, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, load_part, load_lines);
}

} // namespace barmap::copy::avx2
