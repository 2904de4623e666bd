// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// Moving bytes while kernels and mappings use the same memory. As on a GPU, an aligned word of 8
/// bytes is moved whole, so that one that is polled is never seen half new.
namespace barmap::sim {

/// Words are kept whole where both ends are aligned alike and do not overlap.
void move_bytes(std::byte* to, std::byte const* from, std::size_t bytes) noexcept;

/// `word` repeated; its period is a number of bytes that divides 8 and `to` is aligned to.
void fill_bytes(std::byte* to, std::uint64_t word, std::size_t bytes) noexcept;

/// Whether this process may read ordinary memory there.
[[nodiscard]] bool is_there(std::byte* byte) noexcept;

} // namespace barmap::sim
