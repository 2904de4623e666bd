// SPDX-License-Identifier: MIT
#include <barmap/version.hpp>

namespace barmap {

std::string_view version() noexcept {
    return BARMAP_VERSION;
}

} // namespace barmap
