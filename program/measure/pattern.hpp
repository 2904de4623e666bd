// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// Bytes that can be checked without a copy of them: each is a function of a seed and its place.
namespace barmap::tool {

/// Fills with the bytes that belong at [at, at + bytes.size()) of pattern `seed`. Two patterns
/// differ nearly everywhere, and so does one from itself shifted.
/// @pre at is a multiple of 8
void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed, std::uint64_t at);

/// Place of the first byte that differs from the pattern, or nothing.
/// @pre at is a multiple of 8
[[nodiscard]] std::optional<std::size_t> first_difference(std::span<std::byte const> bytes,
                                                          std::uint64_t seed, std::uint64_t at);

} // namespace barmap::tool
