// SPDX-License-Identifier: MIT
#include "transfer/piece_totals.hpp"

#include "transfer/engine/submission.hpp"

#include <bit>

namespace barmap {

piece_totals total(std::span<copy_piece const> pieces) noexcept {
    // Both words stay small where every piece is good and plain: 0 less 1, and what wraps around,
    // has high bits.
    piece_totals result;
    std::uint64_t addresses = 0, sizes = 0, gaps = 0;
    copy_piece end = pieces.empty() ? copy_piece{} : pieces.front(); // of the one before
    for (copy_piece const& each : pieces) {
        std::uint64_t const more = each.bytes - 1;
        addresses |= (each.to - 1) | (each.from - 1) | (each.to + more) | (each.from + more);
        sizes |= more;
        result.bytes += each.bytes;
        gaps |= (each.to ^ end.to) | (each.from ^ end.from);
        end = {each.to + each.bytes, each.from + each.bytes};
    }
    static_assert(std::has_single_bit(engine::most_piece_bytes));
    result.are_plain = sizes < engine::most_piece_bytes;
    result.is_one_range = gaps == 0 && !pieces.empty();
    result.may_be_bad = addresses >= end_of_addresses || !result.are_plain;
    return result;
}

} // namespace barmap
