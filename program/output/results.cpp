// SPDX-License-Identifier: MIT
#include "output/results.hpp"

#include "output/units.hpp"

#include <algorithm>

namespace barmap::tool {
namespace {

/// "p99_9_ns" of "p99.9", as put() and put_tail() call it.
std::string member_of(std::string quantile) {
    std::ranges::replace(quantile, '.', '_');
    return quantile + "_ns";
}

std::vector<std::string> headings_of(std::vector<column> const& columns) {
    std::vector<std::string> headings;
    for (column const& each : columns)
        headings.push_back(each.heading);
    return headings;
}

} // namespace

std::string text_of(json const& value) {
    return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}

std::string size_of(json const& bytes) {
    return bytes.is_null() ? "" : size_text(bytes.get<std::size_t>());
}

std::string us_of(json const& ns) {
    return microseconds(ns.get<double>());
}

column us(std::string const& quantile) {
    return {quantile + " us", member_of(quantile), us_of};
}

column ns(std::string const& quantile) {
    return {quantile + " ns", member_of(quantile), fixed<1>};
}

results::results(report& out, measurement what, progress* bar)
    : out_(out), what_(std::move(what)), table_(headings_of(what_.columns)), bar_(bar) {}

void results::now(std::string_view doing) const {
    if (bar_)
        bar_->step(doing);
}

void results::add(result_row const& one, std::vector<std::string> texts, bool good) {
    add_row(one, good);
    for (std::size_t i = 0; i < what_.columns.size(); ++i)
        if (column const& each = what_.columns[i]; !each.member.empty())
            texts.insert(texts.begin() + std::ptrdiff_t(i), each.shown(one.row.at(each.member)));
    add_line(std::move(texts));
}

void results::add_row(result_row const& one, bool good) {
    json row = object({{"measurement", what_.name}});
    row.update(one.row);
    out_.add(std::move(row));
    good_ &= good;
}

bool results::tell() const {
    out_.say(what_.title + table_.text() + what_.end);
    return good_;
}

} // namespace barmap::tool
