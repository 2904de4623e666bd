// SPDX-License-Identifier: MIT
#include "measure/pattern.hpp"

#include <algorithm>
#include <cstring>

namespace barmap::tool {
namespace {

constexpr std::size_t word_size = sizeof(std::uint64_t);

/// Two rounds of multiplying by odd constants spread every bit of the index.
constexpr std::uint64_t word_at(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t word = (index + 1) * 0x9E3779B97F4A7C15u ^ (seed + 1) * 0xBF58476D1CE4E5B9u;
    word ^= word >> 32;
    return word * 0xD6E8FEB86659FD93u;
}

} // namespace

void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed, std::uint64_t at) {
    std::uint64_t index = at / word_size;
    for (std::size_t i = 0; i < bytes.size(); i += word_size, ++index) {
        std::uint64_t const word = word_at(seed, index);
        std::memcpy(bytes.data() + i, &word, std::min(word_size, bytes.size() - i));
    }
}

std::optional<std::size_t> first_difference(std::span<std::byte const> bytes, std::uint64_t seed,
                                            std::uint64_t at) {
    std::uint64_t index = at / word_size;
    for (std::size_t i = 0; i < bytes.size(); i += word_size, ++index) {
        std::uint64_t const word = word_at(seed, index);
        std::size_t const length = std::min(word_size, bytes.size() - i);
        if (std::memcmp(bytes.data() + i, &word, length) == 0)
            continue;
        auto const* expected = reinterpret_cast<std::byte const*>(&word);
        auto const* found = bytes.data() + i;
        return i + static_cast<std::size_t>(
                       std::mismatch(expected, expected + length, found).first - expected);
    }
    return std::nullopt;
}

} // namespace barmap::tool
