// SPDX-License-Identifier: MIT
#include "base/log.hpp"

#include <cstdio>
#include <new>

namespace barmap::log {
level threshold() noexcept {
    try {
        return config::current().log;
    } catch (std::bad_alloc const&) {
        return level::off;
    }
}

void write(level severity, std::string_view text) noexcept {
    std::fprintf(stderr, "barmap %s: %.*s\n", severity == level::debug ? "debug" : "info",
                 static_cast<int>(text.size()), text.data());
}

} // namespace barmap::log
