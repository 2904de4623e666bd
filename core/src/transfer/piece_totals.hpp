// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace barmap {

/// The first address that no GPU has: theirs have 57 bits.
inline constexpr std::uint64_t end_of_addresses = std::uint64_t{1} << 57;

struct piece_totals {
    std::size_t bytes = 0;
    bool may_be_bad = false; ///< some address may be wrong: look at each piece
    bool are_plain = false;  ///< can go to an engine as they are
    bool is_one_range = false; ///< each begins where the one before ends, on both sides
};

/// Reads a list once, since thousands of pieces are checked before the first one is copied.
[[nodiscard]] piece_totals total(std::span<copy_piece const> pieces) noexcept;

} // namespace barmap
