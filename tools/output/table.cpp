// SPDX-License-Identifier: MIT
#include "output/table.hpp"

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
    std::string all;
    for (auto const& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            bool const left = i == 0 || i >= left_from_;
            line += i == 0 ? "" : "  ";
            line += left ? formatted("{:<{}}", row[i], widths[i])
                         : formatted("{:>{}}", row[i], widths[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        all += line + "\n";
    }
    return all;
}

} // namespace barmap::tool
