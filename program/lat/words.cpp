// SPDX-License-Identifier: MIT
#include "lat/lat.hpp"
#include "output/formatted.hpp"

#include "output/table.hpp"
#include "output/units.hpp"

#include <algorithm>
#include <array>

namespace barmap::tool {
namespace {

/// A chain of loads: each address hangs on the value before, so that none overtakes another and
/// the time of one is its latency.
template <class Load>
double time_of_chain(unsigned operations, Load&& load) {
    std::uint64_t nothing = 0;
    __asm__ volatile("" : "+r"(nothing)); // the compiler must not know that it is zero
    return time_of(operations, [&] {
        std::uint64_t zero = 0;
        for (unsigned i = 0; i < operations; ++i)
            zero = load(zero) & nothing;
        __asm__ volatile("" ::"r"(zero));
    });
}

json row_of_word(std::string_view measurement, std::string_view method, summary const& times) {
    json row;
    row["measurement"] = measurement;
    row["method"] = method;
    put(row, times);
    return row;
}

} // namespace

void measure_read8(report& out, copy_methods& copies, double budget_s) {
    constexpr unsigned operations = 64;
    window const word = copies.mapping().window(0, 8);
    auto const* const address = reinterpret_cast<std::uint64_t const volatile*>(word.data);
    samples fresh(operations), plain(operations);
    clock::time_point const begin = clock::now();
    do {
        plain.add(time_of_chain(operations, [&](std::uint64_t zero) { return address[zero]; }));
        fresh.add(time_of_chain(operations, [&](std::uint64_t zero) {
            return read_value<std::uint64_t>(word.subwindow(zero));
        }));
    } while (seconds_since(begin) < budget_s);

    summary const slow = fresh.summarise(), fast = plain.summarise();
    json row = row_of_word("read8", "fresh", slow);
    row["fresh_over_plain"] = slow.p50_ns / fast.p50_ns;
    out.add(std::move(row));
    out.add(row_of_word("read8", "plain load", fast));
    out.say(formatted("8-byte read: fresh p50 {:.0f} ns, plain load p50 {:.0f} ns, ratio {:.3f}\n",
                      slow.p50_ns, fast.p50_ns, slow.p50_ns / fast.p50_ns));
}

void measure_posts(report& out, copy_methods& copies, double budget_s) {
    constexpr std::size_t line = 64;
    // Enough of them that the stores cannot all wait in the CPU: what is measured is sustained.
    constexpr unsigned operations = 1024;
    std::size_t const room = copies.mapping().size();
    std::size_t const alignment_gap = gap_to_multiple(copies.mapping().data(), line);
    if (room < alignment_gap + line)
        return;
    window const whole = copies.mapping().window().subwindow(alignment_gap);
    // As many lines as there are posts: a page's address translation is not what is measured.
    std::size_t const lines = std::min<std::size_t>(whole.size / line, operations);
    std::array<std::byte, line> content{};

    table rows({"post", "min ns", "p50 ns", "p99 ns"});
    for (std::size_t const bytes : {std::size_t{8}, line}) {
        for (bool const new_lines : {true, false}) {
            samples taken(operations);
            std::size_t at = 0;
            clock::time_point const begin = clock::now();
            do {
                taken.add(time_of(operations, [&] {
                    for (unsigned i = 0; i < operations; ++i) {
                        window const place = whole.subwindow(at * line, line);
                        if (bytes == 8)
                            post(place, std::uint64_t{i});
                        else
                            post_line(place, content);
                        if (new_lines)
                            at = at + 1 < lines ? at + 1 : 0;
                    }
                }));
                flush_stores();
            } while (seconds_since(begin) < budget_s / 4);
            summary const times = taken.summarise();
            std::string_view const where = new_lines ? "new lines" : "same line";
            json row = row_of_word("post", where, times);
            row["size"] = bytes;
            out.add(std::move(row));
            rows.row({formatted("{} B to {}", bytes, where), formatted("{:.1f}", times.min_ns),
                      formatted("{:.1f}", times.p50_ns), formatted("{:.1f}", times.p99_ns)});
        }
    }
    out.say(rows.text());
}

} // namespace barmap::tool
