// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>

#include <string>

namespace barmap::tool {

/// fmt::format(), whose work is compiled once, in formatted.cpp: in header-only form it takes
/// longer to compile than all of the tool's own code. Takes no fmt::join or fmt::ptr.
[[nodiscard]] std::string format_all(fmt::string_view pattern, fmt::format_args arguments);

template <class... Arguments>
[[nodiscard]] std::string formatted(fmt::format_string<Arguments...> pattern,
                                    Arguments&&... arguments) {
    return format_all(pattern, fmt::make_format_args(arguments...));
}

} // namespace barmap::tool
