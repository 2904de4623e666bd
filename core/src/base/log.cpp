// SPDX-License-Identifier: MIT
#include "base/log.hpp"

#include "base/config.hpp"

#include <cstdio>
#include <new>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

log_level log_threshold() noexcept {
    try {
        return config::current().log;
    } catch (std::bad_alloc const&) {
        return log_level::off;
    }
}

void log_line(log_level level, std::string_view text) noexcept {
    if (level != log_level::off && log_threshold() >= level)
        std::fprintf(stderr, "barmap %s: %.*s\n", level == log_level::debug ? "debug" : "info",
                     static_cast<int>(text.size()), text.data());
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
