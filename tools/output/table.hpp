// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace barmap::tool {

/// Rows of text under headings, in columns: the first one to the left, the others to the right.
class table {
public:
    explicit table(std::vector<std::string> headings);
    void row(std::vector<std::string> cells); ///< missing cells are empty
    /// Columns from this one on are set to the left as well.
    void left_from(std::size_t column) { left_from_ = column; }
    [[nodiscard]] std::string text() const;

private:
    std::vector<std::vector<std::string>> rows_;
    std::size_t left_from_;
};

} // namespace barmap::tool
