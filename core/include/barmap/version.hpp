// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/barmap.h>
#include <barmap/export.hpp>

#include <string_view>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// The version of the library that is running, for example "0.1.0".
/// Contract and errors: barmap_version().
[[nodiscard]] inline std::string_view version() noexcept {
    return barmap_version();
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
