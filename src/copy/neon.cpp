// SPDX-License-Identifier: MIT
#include "copy/instruction_sets.hpp"
#include "copy/walk.hpp"

#include <arm_neon.h>

namespace barmap::copy::neon {

namespace {

constexpr std::size_t line = 64;

struct line_bytes {
    uint8x16_t quarter[4];
};

// Pairs of quadwords are what a write-combining (Normal-NC) mapping merges best.
// GPU-side accesses are written as assembly: a plain vector loop may become a call of memcpy.
inline void put(std::byte* gpu, line_bytes const& from) noexcept {
    __asm__ volatile("stp %q2, %q3, [%1]\n\t"
                     "stp %q4, %q5, [%1, #32]"
                     : "=m"(*reinterpret_cast<line_bytes*>(gpu))
                     : "r"(gpu), "w"(from.quarter[0]), "w"(from.quarter[1]), "w"(from.quarter[2]),
                       "w"(from.quarter[3]));
}
inline line_bytes get(std::byte const* gpu) noexcept {
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
        line_bytes value;
        std::memcpy(&value, host + i, line);
        put(gpu + i, value);
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
        std::memcpy(host + i, values, sizeof values);
    }
    for (; i < bytes; i += line) {
        line_bytes const value = get(gpu + i);
        std::memcpy(host + i, &value, line);
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
