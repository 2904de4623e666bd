// SPDX-License-Identifier: MIT
#ifdef FMT_FORMAT_H_
#error "fmt is declared already: its functions would be left undefined"
#endif
#define FMT_HEADER_ONLY // here alone: fmt's functions are compiled into this file
#include "output/formatted.hpp"

#include <fmt/format.h>

namespace barmap::tool {

std::string format_all(fmt::string_view pattern, fmt::format_args arguments) {
    return fmt::vformat(pattern, arguments);
}

} // namespace barmap::tool
