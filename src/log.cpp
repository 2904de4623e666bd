// SPDX-License-Identifier: MIT
#include "log.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace barmap::log {
namespace {

level parse(char const* value) noexcept {
    std::string_view const text = value ? value : "";
    if (text.empty() || text == "off" || text == "0")
        return level::off;
    return text == "debug" ? level::debug : level::info;
}

} // namespace

level threshold() noexcept {
    static level const from_environment = parse(std::getenv("BARMAP_LOG"));
    return from_environment;
}

void write(level severity, std::string_view text) noexcept {
    std::fprintf(stderr, "barmap %s: %.*s\n", severity == level::debug ? "debug" : "info",
                 static_cast<int>(text.size()), text.data());
}

} // namespace barmap::log
