// SPDX-License-Identifier: MIT
#include "transfer/cpu/instruction_sets.hpp"
#include "transfer/cpu/walk.hpp"

#include <immintrin.h>

#define BARMAP_TARGET [[gnu::target("sse4.1")]]

namespace barmap::copy::sse41 {

namespace {

using vector = __m128i;
constexpr std::size_t line = sizeof(vector);

// GPU-side accesses are written as assembly: a plain vector loop may become a call of memcpy.
BARMAP_TARGET inline void put(std::byte* gpu, vector value) noexcept {
    __asm__ volatile("movdqa %1, %0" : "=m"(*reinterpret_cast<vector*>(gpu)) : "x"(value));
}
BARMAP_TARGET inline vector get(std::byte const* gpu) noexcept {
    vector value;
    __asm__ volatile("movntdqa %1, %0" : "=x"(value) : "m"(*reinterpret_cast<vector const*>(gpu)));
    return value;
}

BARMAP_TARGET inline vector from_host(std::byte const* host) noexcept {
    return _mm_loadu_si128(reinterpret_cast<vector const*>(host));
}
BARMAP_TARGET inline void to_host(std::byte* host, vector value) noexcept {
    _mm_storeu_si128(reinterpret_cast<vector*>(host), value);
}

#include "transfer/cpu/vector_lines.inc"

} // namespace

void store(void* gpu, void const* host, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, store_edge, store_lines);
}

void load(void* host, void const* gpu, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, load_part, load_lines);
}

} // namespace barmap::copy::sse41

#undef BARMAP_TARGET
