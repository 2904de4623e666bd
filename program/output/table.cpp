// SPDX-License-Identifier: MIT
#include "output/table.hpp"

#include "output/fold.hpp"
#include "output/formatted.hpp"

#include <algorithm>

namespace barmap::tool {

table::table(std::vector<std::string> headings) : left_from_(headings.size()) {
    rows_.push_back(std::move(headings));
}

void table::row(std::vector<std::string> cells) {
    rows_.push_back(std::move(cells));
}

std::string table::text() const {
    std::vector<std::size_t> widths;
    for (auto const& row : rows_) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    }
    // A last column that is set to the left is text, which fold() breaks.
    bool const ends_in_text = left_from_ < widths.size();
    if (fits(widths, ends_in_text))
        return fold(columns(rows_, widths, 1, widths.size()));
    cells const folded = fold_headings(widths);
    std::string all;
    for (std::size_t first = 1; first < widths.size();) {
        std::size_t end = first, width = widths[0];
        while (end < widths.size() && (end == first || width + 2 + widths[end] <= page_width()))
            width += 2 + widths[end++];
        all += (all.empty() ? "" : "\n") + columns(folded, widths, first, end);
        first = end;
    }
    return fold(all);
}

bool table::fits(std::vector<std::size_t> const& widths, bool ends_in_text) {
    std::size_t width = 0;
    for (std::size_t i = 0; i + ends_in_text < widths.size(); ++i)
        width += widths[i] + 2;
    return width <= page_width() + (ends_in_text ? 0 : 2);
}

/// The rows, with headings in as many lines as make the columns as narrow as what they hold.
table::cells table::fold_headings(std::vector<std::size_t>& widths) const {
    std::vector<std::vector<std::string>> headings;
    for (std::size_t i = 1; i < rows_[0].size(); ++i) {
        std::size_t narrow = 0;
        for (auto row = rows_.begin() + 1; row != rows_.end(); ++row)
            narrow = std::max(narrow, i < row->size() ? (*row)[i].size() : 0);
        for (std::string const& word : lines_of(rows_[0][i], 1))
            narrow = std::max(narrow, word.size());
        widths[i] = narrow;
        headings.push_back(lines_of(rows_[0][i], narrow));
    }
    std::size_t lines = 1;
    for (auto const& heading : headings)
        lines = std::max(lines, heading.size());
    cells all(lines, std::vector<std::string>(widths.size()));
    all.back()[0] = rows_[0][0];
    for (std::size_t i = 0; i < headings.size(); ++i)
        for (std::size_t j = 0; j < headings[i].size(); ++j)
            all[lines - headings[i].size() + j][i + 1] = headings[i][j];
    all.insert(all.end(), rows_.begin() + 1, rows_.end());
    return all;
}

/// The first column, and those from `first` to before `end`.
std::string table::columns(cells const& rows, std::vector<std::size_t> const& widths,
                           std::size_t first, std::size_t end) const {
    std::string all;
    for (auto const& row : rows) {
        std::string line = row.empty() ? "" : formatted("{:<{}}", row[0], widths[0]);
        for (std::size_t i = first; i < std::min(end, row.size()); ++i)
            line += i >= left_from_ ? formatted("  {:<{}}", row[i], widths[i])
                                    : formatted("  {:>{}}", row[i], widths[i]);
        line.erase(line.find_last_not_of(' ') + 1);
        all += line + "\n";
    }
    return all;
}

} // namespace barmap::tool
