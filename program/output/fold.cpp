// SPDX-License-Identifier: MIT
#include "output/fold.hpp"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

namespace barmap::tool {
namespace {

/// Where the last column of a line begins, as far as it leaves room for text.
std::size_t last_column(std::string_view line, std::size_t width) {
    constexpr std::size_t room = 28;
    std::size_t const begin = std::min(line.find_first_not_of(' '), line.size());
    std::size_t found = begin < 10 ? begin + 2 : begin; // a line with one column is indented
    if (begin == 0)
        found = 0;
    for (std::size_t at = begin; (at = line.find("  ", at)) != line.npos;) {
        at = line.find_first_not_of(' ', at);
        if (at == line.npos || at > width - room)
            break;
        found = at;
    }
    return found;
}

void fold_line(std::string_view line, std::size_t width, std::string& folded) {
    if (line.size() <= width) {
        folded += line;
        return;
    }
    std::size_t const column = last_column(line, width);
    std::size_t const begin = line.find_first_not_of(' ', column);
    bool first = true;
    folded += line.substr(0, begin);
    for (std::string const& each : lines_of(line.substr(begin), width - begin)) {
        folded += (first ? "" : "\n" + std::string(begin, ' ')) + each;
        first = false;
    }
}

} // namespace

std::size_t page_width() noexcept {
    constexpr std::size_t usual = 80, least = 40; // folded text needs room beside its first columns
    winsize terminal{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &terminal) != 0 || terminal.ws_col == 0)
        return usual;
    return std::clamp<std::size_t>(terminal.ws_col, least, usual);
}

std::vector<std::string> lines_of(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    while (text.size() > width) {
        std::size_t space = text.rfind(' ', width);
        if (space == text.npos || space == 0)
            space = text.find(' ', width);
        if (space == text.npos)
            break;
        lines.emplace_back(text.substr(0, text.find_last_not_of(' ', space) + 1));
        text.remove_prefix(std::min(text.find_first_not_of(' ', space), text.size()));
    }
    if (!text.empty() || lines.empty())
        lines.emplace_back(text);
    return lines;
}

std::string fold(std::string_view text, std::size_t width) {
    std::string folded;
    for (std::size_t end = 0; !text.empty(); text.remove_prefix(end)) {
        end = std::min(text.find('\n'), text.size() - 1) + 1;
        bool const whole = text[end - 1] == '\n';
        fold_line(text.substr(0, end - whole), width, folded);
        folded += whole ? "\n" : "";
    }
    return folded;
}

} // namespace barmap::tool
