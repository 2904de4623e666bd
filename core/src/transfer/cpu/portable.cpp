// SPDX-License-Identifier: MIT
#include "transfer/cpu/instruction_sets.hpp"
#include "transfer/cpu/walk.hpp"

namespace barmap::copy::portable {

namespace {

constexpr std::size_t line = 64;

void store_lines(std::byte* gpu, std::byte const* host, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; i += 8) {
        store_word{}(width<8>{}, gpu + i, host + i);
    }
}

// All loads of a line are issued before the first result is needed.
void load_lines(std::byte const* gpu, std::byte* host, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; i += line) {
        std::byte words[line];
#pragma GCC unroll 8
        for (std::size_t word = 0; word < line; word += 8) {
            load_word{}(width<8>{}, gpu + i + word, words + word);
        }
        std::memcpy(host + i, words, line);
    }
}

} // namespace

void store(void* gpu, void const* host, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, store_edge, store_lines);
}

void load(void* host, void const* gpu, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, load_edge, load_lines);
}

void post_word(void* gpu, std::uint64_t word, unsigned bytes) noexcept {
    store_one_word(at(gpu), reinterpret_cast<std::byte const*>(&word), bytes); // little endian
}

void post_line(void* gpu, void const* from) noexcept {
    store_lines(at(gpu), at(from), line);
}

} // namespace barmap::copy::portable
