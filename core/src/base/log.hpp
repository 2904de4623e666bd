// SPDX-License-Identifier: MIT
#pragma once

#include "base/config.hpp"

#include <string_view>

/// Prints barmap's decisions on request: BARMAP_LOG=info prints each decision once (backends, copy
/// routines), BARMAP_LOG=debug also each pin. Off by default. To stderr, one line at a time.
namespace barmap::log {

using level = config::log_level;

[[nodiscard]] level threshold() noexcept;
void write(level severity, std::string_view text) noexcept;

inline void debug(std::string_view text) noexcept {
    if (threshold() >= level::debug)
        write(level::debug, text);
}

inline void info(std::string_view text) noexcept {
    if (threshold() >= level::info)
        write(level::info, text);
}

} // namespace barmap::log
