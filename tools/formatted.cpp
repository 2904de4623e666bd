// SPDX-License-Identifier: MIT
#include "formatted.hpp"

namespace barmap::tool {

std::string format_all(fmt::string_view pattern, fmt::format_args arguments) {
    return fmt::vformat(pattern, arguments);
}

} // namespace barmap::tool
