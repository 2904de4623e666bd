// SPDX-License-Identifier: MIT
#include "transfer/cpu/instruction_sets.hpp"
#include "transfer/cpu/walk.hpp"

#include <immintrin.h>

/// Direct stores: they leave the CPU at once, uncombined, each as one transaction.
namespace barmap::copy::movdir64b {

namespace {

constexpr std::size_t line = 64;

[[gnu::target("movdir64b")]] void store_lines(std::byte* gpu, std::byte const* host,
                                              std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; i += line) {
        _movdir64b(gpu + i, host + i);
    }
}

} // namespace

void store(void* gpu, void const* host, std::size_t bytes) noexcept {
    walk<line>(at(gpu), at(host), bytes, store_edge, store_lines);
}

[[gnu::target("movdiri")]] void post_word(void* gpu, std::uint64_t word, unsigned bytes) noexcept {
    if (bytes == 8) {
        _directstoreu_u64(gpu, word);
    } else if (bytes == 4) {
        _directstoreu_u32(gpu, static_cast<std::uint32_t>(word));
    } else { // MOVDIRI has no narrower form
        portable::post_word(gpu, word, bytes);
    }
}

[[gnu::target("movdir64b")]] void post_line(void* gpu, void const* from) noexcept {
    _movdir64b(gpu, from);
}

} // namespace barmap::copy::movdir64b
