// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/address_ranges.hpp"
#include "transfer/engine/engine.hpp"
#include "transfer/piece_totals.hpp"

#include <barmap/error.hpp>
#include <barmap/types.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

/// Validates the pieces of a batch, before an engine gets them. Errors name the piece.
namespace barmap {

/// The errors here have a piece(). @throws error errc::invalid_argument: a null address, or one out
/// of range
[[nodiscard]] piece_totals check(std::span<copy_piece const> pieces);

/// Without empty pieces, and with large ones cut to what an engine takes.
[[nodiscard]] std::vector<copy_piece> plain(std::span<copy_piece const> pieces);

/// Which way the first piece goes that is not empty.
/// @param known of earlier batches, so that the driver is asked of new memory only, and once more
///        where both sides do not differ as host memory and the GPU's do: what was there once may
///        be gone. That the two have changed places is not noticed.
[[nodiscard]] engine::direction way_of(std::span<copy_piece const> pieces,
                                       cuda::address_ranges& known);

/// Refuses another GPU's memory that is not mapped for this one: it looks at some pieces of a long
/// list, evenly spread, and leaves the others to the engine, which stops there.
/// @param known of earlier batches: what has been unmapped since is not noticed
/// @throws error errc::wrong_device
void expect_reachable(std::span<copy_piece const> pieces, cuda::address_ranges& known);

/// Refuses what CUDA does not know, and what reaches beyond it.
/// @param asked of this batch alone, since what was freed since is unknown
/// @throws error errc::unsupported_memory; errc::out_of_range if only a part of it lies in
///         the allocation
void expect_known(std::span<copy_piece const> pieces, cuda::address_ranges& asked);

/// Whether CUDA's own copies take all of them, and end no call later for it: each side lies in one
/// live allocation, of which copies are not synchronous.
[[nodiscard]] bool suit_cuda(std::span<copy_piece const> pieces, cuda::address_ranges& asked);

} // namespace barmap
