// SPDX-License-Identifier: MIT
#include "lat/lat.hpp"
#include "output/formatted.hpp"

#include "output/units.hpp"

#include <algorithm>
#include <array>

namespace barmap::tool {
namespace {

/// A chain of loads: each address depends on the value before, so that none overtakes another and
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

} // namespace

void measure_read8(report& out, compared_copies& copies, double budget_s) {
    constexpr unsigned operations = 64;
    window const word = copies.mapping().window(0, 8);
    auto const* const address = reinterpret_cast<std::uint64_t const volatile*>(word.data);
    samples fresh(operations), plain(operations);
    for (repetitions rounds(0, budget_s); rounds.next();) {
        plain.add(time_of_chain(operations, [&](std::uint64_t zero) { return address[zero]; }));
        fresh.add(time_of_chain(operations, [&](std::uint64_t zero) {
            return read_value<std::uint64_t>(word.subwindow(zero));
        }));
    }
    summary const slow = fresh.summarise(), fast = plain.summarise();
    double const ratio = slow.p50_ns / fast.p50_ns;
    results found(out, {"read8", {}});
    found.add_row(result_row({{"method", "fresh"}}).with(slow).has("fresh_over_plain", ratio));
    found.add_row(result_row({{"method", "plain load"}}).with(fast));
    out.say(formatted("8-byte read: fresh p50 {:.0f} ns, plain load p50 {:.0f} ns, ratio {:.3f}\n",
                      slow.p50_ns, fast.p50_ns, ratio));
}

void measure_posts(report& out, compared_copies& copies, double budget_s) {
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
    auto const cases = every(std::array{std::size_t{8}, line}, std::array{true, false});
    measurement const what("post", {"post", ns("min"), ns("p50"), ns("p99")}, "", "");
    measure(out, what, cases, [&](results& into, std::size_t bytes, bool new_lines) {
        samples taken(operations);
        std::size_t at = 0;
        for (repetitions rounds(0, budget_s / 4); rounds.next(); flush_stores())
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
        std::string_view const where = new_lines ? "new lines" : "same line";
        into.add(result_row({{"method", where}}).with(taken.summarise()).has("size", bytes),
                 {formatted("{} B to {}", bytes, where)});
    });
}

} // namespace barmap::tool
