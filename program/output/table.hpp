// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace barmap::tool {

/// Rows of text under headings, in columns: the first one to the left, the others to the right.
/// Where they are wider than a page, the headings are broken at their spaces; where that is not
/// enough, the columns stand in several parts, one below the other, each with the first column.
class table {
public:
    explicit table(std::vector<std::string> headings);
    void row(std::vector<std::string> cells); ///< missing cells are empty
    /// Columns from this one on are set to the left as well.
    void left_from(std::size_t column) { left_from_ = column; }
    [[nodiscard]] std::string text() const;

private:
    using cells = std::vector<std::vector<std::string>>;
    static bool fits(std::vector<std::size_t> const& widths, bool ends_in_text);
    cells fold_headings(std::vector<std::size_t>& widths) const;
    std::string columns(cells const& rows, std::vector<std::size_t> const& widths,
                        std::size_t first, std::size_t end) const;

    cells rows_;
    std::size_t left_from_;
};

} // namespace barmap::tool
