// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/report.hpp>

#include <string_view>

/// Prints barmap's decisions on request, one line at a time to stderr: BARMAP_LOG=info prints each
/// decision once (backends, copy routines), BARMAP_LOG=debug also each pin. Off by default.
namespace barmap::log {

/// Prints a line if BARMAP_LOG asks for its level.
void line(log_level level, std::string_view text) noexcept;

inline void debug(std::string_view text) noexcept {
    line(log_level::debug, text);
}

inline void info(std::string_view text) noexcept {
    line(log_level::info, text);
}

} // namespace barmap::log
