// SPDX-License-Identifier: MIT
#include "transfer/cpu/instruction_sets.hpp"
#include "transfer/cpu/walk.hpp"

namespace barmap::copy::erms {

namespace {

constexpr std::size_t line = 64;

// Only ever for stores: the same instruction fetches from GPU memory one line at a time (0.06
// GB/s).
void store_lines(std::byte* gpu, std::byte const* host, std::size_t bytes) noexcept {
    __asm__ volatile("rep movsb" : "+D"(gpu), "+S"(host), "+c"(bytes) : : "memory");
}

} // namespace

void store(void* gpu, void const* host, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, store_edge, store_lines);
}

} // namespace barmap::copy::erms
