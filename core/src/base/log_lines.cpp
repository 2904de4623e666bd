// SPDX-License-Identifier: MIT
#include "base/log_lines.hpp"

#include "base/config.hpp"
#include "system/no_cancellation.hpp"

#include <cstdio>
#include <new>

namespace barmap::log {
namespace {

log_level threshold() noexcept {
    try {
        return config::current().log;
    } catch (std::bad_alloc const&) {
        return log_level::off;
    }
}

} // namespace

void line(log_level level, std::string_view text) noexcept {
    if (level != log_level::off && threshold() >= level)
        std::fprintf(stderr, "barmap %s: %.*s\n", level == log_level::debug ? "debug" : "info",
                     static_cast<int>(text.size()), text.data());
}

} // namespace barmap::log

int barmap_log_threshold(void) {
    barmap::os::no_cancellation const uncancelled;
    return static_cast<int>(barmap::log::threshold());
}

void barmap_log_line(int level, char const* text) {
    barmap::os::no_cancellation const uncancelled;
    if (text && (level == BARMAP_LOG_INFO || level == BARMAP_LOG_DEBUG))
        barmap::log::line(static_cast<barmap::log_level>(level), text);
}
