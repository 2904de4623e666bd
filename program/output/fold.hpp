// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::tool {

/// Columns of a page: 80, or fewer where stdout is a terminal that has fewer, but at least 40.
[[nodiscard]] std::size_t page_width() noexcept;

/// A text in lines of that many columns, broken at its spaces. A word that is longer is not broken.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text, std::size_t width);

/// Text whose lines have at most page_width() columns, where their words allow it. The rest of a
/// line continues under its last column; two or more spaces separate columns.
[[nodiscard]] std::string fold(std::string_view text, std::size_t width = page_width());

} // namespace barmap::tool
