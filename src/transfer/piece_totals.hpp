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
    bool are_surely_good = false; ///< if not, look at each piece: an empty one makes it false, too
    bool are_plain = false; ///< can go to an engine as they are
    std::size_t follow = 0; ///< how many go on where the one before ends, on both sides
};

/// Looks over a batch once: a list of thousands is checked before its first piece is copied.
[[nodiscard]] piece_totals total(std::span<copy_piece const> pieces) noexcept;

} // namespace barmap
