// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/types.hpp>

#include <cstddef>
#include <cstdint>

/// Lists of pieces for a copy engine, and its answers.
namespace barmap::engine {

/// The pieces of a copy are 1 to this long, and their addresses are those of the engine's lane.
inline constexpr std::size_t most_piece_bytes = std::size_t{1} << 30;

/// Names a submission: above 0 and below 2^number_bits.
using ticket = std::uint64_t;
inline constexpr unsigned number_bits = 48;
/// The lower bits of a ticket count the submissions to one queue of the engine, from 1 on.
inline constexpr unsigned ticket_bits = number_bits - 5;
inline constexpr std::size_t most_queues = std::size_t{1} << (number_bits - ticket_bits);

/// The state of a submission. If its parts differ, the last enumerator among them counts.
enum class state { done, failed, in_flight, never_given };

} // namespace barmap::engine
