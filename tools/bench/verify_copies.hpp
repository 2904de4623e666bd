// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/engine/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace barmap::tool {

/// One piece, by the places of its bytes on both sides.
struct place {
    std::size_t gpu, host, bytes;
};

/// Copies these, in any order.
using copier = std::function<void(engine::direction, std::span<place const>)>;

/// Another way to the GPU memory, that is known to be right: writes all of it, and reads all of it.
struct gpu_access {
    std::function<void(std::span<std::byte const>)> write;
    std::function<void(std::span<std::byte>)> read;
};

/// Has random pieces copied both ways between GPU memory and as much host memory, and looks at
/// every byte: of the pieces, and of what lies around them.
/// @pre host.size() is some MiB
/// @return what is wrong, or nothing
[[nodiscard]] std::optional<std::string> verify_copies(gpu_access const& gpu,
                                                       std::span<std::byte> host,
                                                       copier const& copy, std::uint64_t seed);

} // namespace barmap::tool
