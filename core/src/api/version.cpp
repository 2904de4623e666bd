// SPDX-License-Identifier: MIT
#include <barmap/version.hpp>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

std::string_view version() noexcept {
    return BARMAP_VERSION;
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
