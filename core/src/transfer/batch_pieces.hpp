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

/// The direction of the first piece that is not empty.
/// @param known of earlier batches, so that the driver is asked about new memory only; and again if
///        not exactly one side is host memory, since the remembered memory may have been freed. If
///        host memory and GPU memory have changed places, that stays undetected.
[[nodiscard]] engine::direction way_of(std::span<copy_piece const> pieces,
                                       cuda::address_ranges& known);

/// Refuses another GPU's memory that is not mapped for this one: it looks at some pieces of a long
/// list, evenly spread, and leaves the others to the engine, which stops there.
/// @param known of earlier batches: it may have memory that was unmapped since
/// @throws error errc::wrong_device
void expect_reachable(std::span<copy_piece const> pieces, cuda::address_ranges& known);

/// Refuses memory that CUDA does not know, and pieces that reach beyond an allocation.
/// @param asked of this batch alone, since earlier answers may be about freed memory
/// @throws error errc::unsupported_memory; errc::out_of_range if only a part of it lies in
///         the allocation
void expect_known(std::span<copy_piece const> pieces, cuda::address_ranges& asked);

/// Whether CUDA's own copies take all pieces without a wait in the call: each side lies in one live
/// allocation, and copies of that allocation are not synchronous.
[[nodiscard]] bool suit_cuda(std::span<copy_piece const> pieces, cuda::address_ranges& asked);

} // namespace barmap
