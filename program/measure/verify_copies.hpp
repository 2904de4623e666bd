// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/mapping.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace barmap::tool {

/// One piece, by the places of its bytes on both sides.
struct copy_place {
    std::size_t gpu, host, bytes;
};

/// A length, of every order of magnitude up to 2^most as likely as each other.
[[nodiscard]] std::size_t random_length(unsigned most, std::mt19937_64& random);

/// Pieces at odd places, in another order on either side, with bytes between them that must not
/// change.
/// @param room bytes of either side. @param length gives that of the next piece
[[nodiscard]] std::vector<copy_place> random_places(std::size_t room, std::size_t most_pieces,
                                                    std::mt19937_64& random,
                                                    std::function<std::size_t()> const& length);

/// Copies these, in any order.
using copier = std::function<void(copy_direction, std::span<copy_place const>)>;

/// By copies of a mapping, one for each place. Both outlive it.
/// @param offset of the places' GPU memory in the mapping
[[nodiscard]] copier copier_through(mapping const& gpu, std::span<std::byte> host,
                                    std::size_t offset = 0);

/// Another way to the GPU memory, that is known to be right: writes all of it, and reads all of it.
struct gpu_access {
    std::function<void(std::span<std::byte const>)> write;
    std::function<void(std::span<std::byte>)> read;
};

/// Has random pieces copied both ways between GPU memory and as much host memory, and looks at
/// every byte: of the pieces, and of the gaps around them.
/// @pre host.size() is some MiB
/// @return what is wrong, or nothing
[[nodiscard]] std::optional<std::string> verify_copies(gpu_access const& gpu,
                                                       std::span<std::byte> host,
                                                       copier const& copy, std::uint64_t seed);

} // namespace barmap::tool
