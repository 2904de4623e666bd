// SPDX-License-Identifier: MIT
#pragma once

#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "output/report.hpp"
#include "output/table.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace barmap::tool {

// A cell's text for a JSON value.
[[nodiscard]] std::string text_of(json const& value); ///< text as it is, nothing for null
[[nodiscard]] std::string size_of(json const& bytes); ///< "4 KiB", nothing for null
[[nodiscard]] std::string us_of(json const& ns);      ///< microseconds()
/// A number of units, with that many digits after the point.
template <int Digits, int Unit = 1>
[[nodiscard]] std::string fixed(json const& value) {
    return formatted("{:.{}f}", value.get<double>() / Unit, Digits);
}

/// A column of a table: it shows a member of each result, or, without one, a text beside it.
struct column {
    column(std::string name, std::string of = {}, std::string (*as)(json const&) = text_of)
        : heading(std::move(name)), member(std::move(of)), shown(as) {}
    column(char const* name) : column(std::string(name)) {}

    std::string heading, member;
    std::string (*shown)(json const&);
};
/// Columns of quantiles ("min", "p50", "p99.9", "max"), in microseconds or nanoseconds.
[[nodiscard]] column us(std::string const& quantile);
[[nodiscard]] column ns(std::string const& quantile);

/// One result: a row of the JSON.
struct result_row {
    result_row(std::initializer_list<member> members) : row(object(members)) {}
    result_row& has(char const* name, json value) {
        row[name] = std::move(value);
        return *this;
    }
    template <class Found>
    result_row& with(Found const& found) { ///< what put() adds
        put(row, found);
        return *this;
    }
    result_row& with_tail(summary const& times) {
        put_tail(row, times);
        return *this;
    }
    json row;
};

/// A measurement.
struct measurement {
    measurement(char const* member, std::vector<column> all, std::string before = {},
                std::string after = "\n")
        : name(member), columns(std::move(all)), title(std::move(before)), end(std::move(after)) {}

    char const* name; ///< the member "measurement" of each row
    std::vector<column> columns;
    std::string title, end; ///< what stands before the table, and after it
};

/// The results of a measurement: each is added to the JSON at once; together they are a table.
class results {
public:
    results(report& out, measurement what, progress* bar = nullptr);

    void now(std::string_view doing) const; ///< a step of the progress bar begins
    /// @param texts for the columns that show no member; more of them stand behind the columns
    void add(result_row const& one, std::vector<std::string> texts = {}, bool good = true);
    // The parts of add(), where several results make one line.
    void add_row(result_row const& one, bool good = true);
    void add_line(std::vector<std::string> cells) { table_.row(std::move(cells)); }
    /// Calls work(*this, parts...) with the parts of each case, which is a tuple.
    template <class Cases, class Work>
    void each(Cases const& cases, Work const& work) {
        for (auto const& one : cases)
            std::apply([&](auto const&... parts) { work(*this, parts...); }, one);
    }
    bool tell() const; ///< prints the table. @return whether all results are good

private:
    report& out_;
    measurement what_;
    table table_;
    progress* bar_;
    bool good_ = true;
};

inline std::vector<std::tuple<>> every() {
    return {{}};
}
/// Every combination of what these ranges hold, as tuples; the last part changes first.
template <class First, class... Others>
[[nodiscard]] auto every(First const& first, Others const&... others) {
    auto const ends = every(others...);
    std::vector<decltype(std::tuple_cat(std::make_tuple(*std::begin(first)), ends[0]))> all;
    for (auto const& one : first)
        for (auto const& end : ends)
            all.push_back(std::tuple_cat(std::make_tuple(one), end));
    return all;
}

/// The loop of every measurement: work(results&, the parts of a case...) measures one case and adds
/// what it finds; then the table is printed.
/// @param whole the bar of which this is a part; null: it has its own
/// @return whether all results are good
///
///     measurement const copies{"copy", {column("size", "size", size_of), us("p50"), us("p99")}};
///     measure(out, copies, every(sizes), [&](results& into, std::size_t bytes) {
///         into.now(size_text(bytes));
///         into.add(result_row({{"size", bytes}}).with(times_of_copies(bytes)));
///     });
template <class Cases, class Work>
bool measure(report& out, measurement const& what, Cases const& cases, Work const& work,
             progress* whole = nullptr) {
    progress own(cases.size());
    results found(out, what, whole ? whole : &own);
    found.each(cases, work);
    return found.tell();
}

} // namespace barmap::tool
