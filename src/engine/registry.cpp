// SPDX-License-Identifier: MIT
#include "engine/engine.hpp"

#include <array>

namespace barmap::engine {

std::span<registration const> registry() noexcept {
    static constexpr std::array<registration, 2> engines{{
        {"channel", make_channel},
        {"driver", make_driver},
    }};
    return engines;
}

} // namespace barmap::engine
