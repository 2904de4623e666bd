// SPDX-License-Identifier: MIT
#include "transfer/cpu/instruction_sets.hpp"
#include "transfer/cpu/walk.hpp"

/// 64-byte single-copy atomic loads and stores of Armv8.7 (FEAT_LS64): each line is one
/// transaction. They work only on memory that supports them, which no register reports; elsewhere
/// they fault. So barmap uses this routine only if it is named. It was not run on hardware.
namespace barmap::copy::ls64 {

namespace {

constexpr std::size_t line = 64;

// As numbers, since not every assembler knows the instructions: ST64B x0, [x8] and LD64B x0, [x8].
void store_lines(std::byte* gpu, std::byte const* host, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; i += line) {
        register std::byte* to __asm__("x8") = gpu + i;
        register std::byte const* from __asm__("x9") = host + i;
        __asm__ volatile("ldp x0, x1, [%1]\n\t"
                         "ldp x2, x3, [%1, #16]\n\t"
                         "ldp x4, x5, [%1, #32]\n\t"
                         "ldp x6, x7, [%1, #48]\n\t"
                         ".inst 0xf83f9100"
                         :
                         : "r"(to), "r"(from)
                         : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "memory");
    }
}

void load_lines(std::byte const* gpu, std::byte* host, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; i += line) {
        register std::byte const* from __asm__("x8") = gpu + i;
        register std::byte* to __asm__("x9") = host + i;
        __asm__ volatile(".inst 0xf83fd100\n\t"
                         "stp x0, x1, [%1]\n\t"
                         "stp x2, x3, [%1, #16]\n\t"
                         "stp x4, x5, [%1, #32]\n\t"
                         "stp x6, x7, [%1, #48]"
                         :
                         : "r"(from), "r"(to)
                         : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "memory");
    }
}

} // namespace

void store(void* gpu, void const* host, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, store_edge, store_lines);
}

void load(void* host, void const* gpu, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, load_edge, load_lines);
}

} // namespace barmap::copy::ls64
