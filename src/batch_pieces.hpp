// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/address_ranges.hpp"

#include <barmap/copy_engine.hpp>

#include <cstddef>
#include <span>
#include <vector>

/// The pieces of a batch, before an engine gets them. What is refused names the piece.
namespace barmap {

/// What a thread remembers of memory that it has copied.
struct known_memory {
    cuda::address_ranges all;
    cuda::address_range gpu, host; ///< where the last pieces lay
};

/// The bytes of a batch, and what is known of all its pieces.
struct checked_pieces {
    std::size_t bytes = 0;
    bool are_plain = true; ///< can go to an engine as they are
    bool are_known = true; ///< lie where the last pieces did
};

/// @throws error errc::invalid_argument: a null address, or one out of range
[[nodiscard]] checked_pieces check(std::span<copy_piece const> pieces, known_memory const& known);

/// Without empty pieces, and with large ones cut to what an engine takes.
[[nodiscard]] std::vector<copy_piece> plain(std::span<copy_piece const> pieces);

/// Refuses a batch whose first piece has its sides exchanged, as far as CUDA knows what they are:
/// later ones may go the other way. An address that CUDA does not know passes.
/// @param known of earlier batches, so that the driver is asked of new memory only
/// @throws error errc::invalid_argument
void expect_sides(std::span<copy_piece const> pieces, known_memory& known);

/// Refuses also what CUDA does not know, and what reaches beyond it.
/// @throws error errc::invalid_argument, errc::unsupported_memory, errc::out_of_range
void expect_known(std::span<copy_piece const> pieces);

} // namespace barmap
