// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/address_ranges.hpp"
#include "engine/engine.hpp"

#include <barmap/copy_engine.hpp>

#include <cstddef>
#include <span>
#include <vector>

/// The pieces of a batch, before an engine gets them. What is refused names the piece.
namespace barmap {

struct checked_pieces {
    std::size_t bytes = 0;
    bool are_plain = true; ///< can go to an engine as they are
};

/// @throws error errc::invalid_argument: a null address, or one out of range
[[nodiscard]] checked_pieces check(std::span<copy_piece const> pieces);

/// Without empty pieces, and with large ones cut to what an engine takes.
[[nodiscard]] std::vector<copy_piece> plain(std::span<copy_piece const> pieces);

/// Which way the first piece goes. Where it stays on one side, or CUDA does not know, to the CPU.
/// @param known of earlier batches, so that the driver is asked of new memory only
[[nodiscard]] engine::direction way_of(std::span<copy_piece const> pieces,
                                       cuda::address_ranges& known);

/// Refuses what CUDA does not know, and what reaches beyond it.
/// @throws error errc::unsupported_memory, errc::out_of_range
void expect_known(std::span<copy_piece const> pieces);

} // namespace barmap
