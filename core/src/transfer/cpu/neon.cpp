// SPDX-License-Identifier: MIT
#include "transfer/cpu/instruction_sets.hpp"
#include "transfer/cpu/walk.hpp"

#include <arm_neon.h>

namespace barmap::copy::neon {

namespace {

constexpr std::size_t line = 64;

struct line_bytes {
    uint8x16_t quarter[4];
};

line_bytes get_host(std::byte const* host) noexcept {
    auto const* const bytes = reinterpret_cast<std::uint8_t const*>(host);
    return {{vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32), vld1q_u8(bytes + 48)}};
}
void put_host(std::byte* host, line_bytes const& from) noexcept {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(host);
    vst1q_u8(bytes, from.quarter[0]);
    vst1q_u8(bytes + 16, from.quarter[1]);
    vst1q_u8(bytes + 32, from.quarter[2]);
    vst1q_u8(bytes + 48, from.quarter[3]);
}

// Pairs of quadwords are what a write-combining (Normal-NC) mapping merges best.
// GPU-side accesses are written as assembly: a plain vector loop may become a call of memcpy.
void put(std::byte* gpu, line_bytes const& from) noexcept {
    __asm__ volatile("stp %q2, %q3, [%1]\n\t"
                     "stp %q4, %q5, [%1, #32]"
                     : "=m"(*reinterpret_cast<line_bytes*>(gpu))
                     : "r"(gpu), "w"(from.quarter[0]), "w"(from.quarter[1]), "w"(from.quarter[2]),
                       "w"(from.quarter[3]));
}
line_bytes get(std::byte const* gpu) noexcept {
    line_bytes value;
    __asm__ volatile("ldp %q0, %q1, [%4]\n\t"
                     "ldp %q2, %q3, [%4, #32]"
                     : "=&w"(value.quarter[0]), "=&w"(value.quarter[1]), "=&w"(value.quarter[2]),
                       "=&w"(value.quarter[3])
                     : "r"(gpu), "m"(*reinterpret_cast<line_bytes const*>(gpu)));
    return value;
}

void store_lines(std::byte* gpu, std::byte const* host, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; i += line) {
        put(gpu + i, get_host(host + i));
    }
}

void load_lines(std::byte const* gpu, std::byte* host, std::size_t bytes) noexcept {
    constexpr std::size_t group = 4; // lines that are asked for before the first one is needed
    std::size_t i = 0;
    for (; bytes - i >= group * line; i += group * line) {
        line_bytes values[group];
#pragma GCC unroll 4
        for (std::size_t k = 0; k < group; ++k) {
            values[k] = get(gpu + i + k * line);
        }
#pragma GCC unroll 4
        for (std::size_t k = 0; k < group; ++k) {
            put_host(host + i + k * line, values[k]);
        }
    }
    for (; i < bytes; i += line) {
        put_host(host + i, get(gpu + i));
    }
}

} // namespace

void store(void* gpu, void const* host, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, store_edge, store_lines);
}

void load(void* host, void const* gpu, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, load_edge, load_lines);
}

void post_line(void* gpu, void const* from) noexcept {
    store_lines(at(gpu), at(from), line);
}

} // namespace barmap::copy::neon
