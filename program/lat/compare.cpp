// SPDX-License-Identifier: MIT
#include "lat/lat.hpp"
#include "output/formatted.hpp"
#include "output/units.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>

namespace barmap::tool {
namespace {

std::vector<copy_method> methods_of(compared_copies& copies) {
    // Loads through BAR1 take a millisecond for 1 MiB, and only get worse.
    constexpr std::size_t most_read = MiB;
    std::vector<copy_method> methods;
    for (host_memory_kind const host : both_kinds) {
        methods.push_back(copies.adaptive(host));
        for (copy_method& each : copies.engines(host))
            methods.push_back(std::move(each));
        methods.push_back(copies.chosen(host));
        methods.back().most_read = most_read;
    }
    for (copy_method& each : copies.every_routine()) {
        each.most_read = most_read;
        methods.push_back(std::move(each));
    }
    for (copy_method& each : copies.driver(true))
        methods.push_back(std::move(each));
    return methods;
}

using crossovers = std::vector<copy_crossover>;

/// The method of an adaptive copy.
std::string method_of(crossovers const& all, copy_direction way, host_memory_kind host,
                      std::size_t bytes) {
    std::string found;
    for (copy_crossover const& each : all)
        if (each.direction == way && each.host == host && each.from_bytes <= bytes)
            found = each.method;
    return found;
}

/// One method beside the best of others, at each size.
struct comparison {
    using choice = std::function<bool(mover, host_memory_kind)>;
    char const* measurement;              ///< of its JSON rows
    std::string name;                     ///< of the judged method, in headings and members
    std::string rate;                     ///< the heading of its GB/s
    std::string chosen;                   ///< the member that says what it is
    std::optional<host_memory_kind> host; ///< of all these methods, if that is one
    choice judged, others;
    std::function<std::string(measured_method const&, copy_direction, std::size_t)> is;
    std::vector<std::string> names{}; ///< of all these methods

    /// The fastest of some methods, or null where there is none.
    static measured_method const* best_of(std::vector<measured_method> const& found,
                                          choice const& wanted) {
        measured_method const* best = nullptr;
        for (measured_method const& one : found)
            if (wanted(one.by, one.host) && (!best || one.times.p50_ns < best->times.p50_ns))
                best = &one;
        return best;
    }

    [[nodiscard]] tool::measurement table_of(copy_direction way) const {
        std::vector<column> columns{column(formatted("{} p50 us", name_of(way)), "size", size_of)};
        for (std::string const& each : names)
            columns.emplace_back(each);
        columns.insert(columns.end(), {column(rate), column("best", "best"),
                                       column(name + " / best", name + "_over_best", fixed<3>),
                                       column(name + " is", chosen)});
        return {measurement, std::move(columns)};
    }

    void add(results& into, copy_direction way, std::size_t bytes,
             std::vector<measured_method> const& found) const {
        measured_method const *const one = best_of(found, judged), *const best =
                                                                       best_of(found, others);
        if (!one || !best)
            return;
        result_row row({{"direction", name_of(way)}, {"size", bytes}});
        if (host)
            row.has("host", to_string(*host));
        row.has(chosen.c_str(), is(*one, way, bytes))
            .has("best", best->name)
            .has((name + "_over_best").c_str(), one->times.p50_ns / best->times.p50_ns);
        std::vector<std::string> texts;
        for (std::string const& each : names) {
            auto const at = std::ranges::find(found, each, &measured_method::name);
            texts.push_back(at == found.end() ? "-" : microseconds(at->times.p50_ns));
        }
        texts.push_back(formatted("{:.2f}", gigabytes_per_second(bytes, one->times.p50_ns)));
        into.add(row, std::move(texts));
    }
};

/// The automatic choice of a copy routine beside every routine, then adaptive copies beside every
/// other method with such host memory.
std::vector<comparison> comparisons(crossovers const& chosen,
                                    std::vector<copy_method> const& methods) {
    std::vector<comparison> all{
        {"choice", "auto", "auto GB/s", "auto_routine", std::nullopt,
         [](mover by, host_memory_kind host) {
             return by == mover::chosen && host == host_memory_kind::pageable;
         },
         [](mover by, host_memory_kind) { return by == mover::routine; },
         [](measured_method const& one, copy_direction, std::size_t) { return one.routine; }}};
    for (host_memory_kind const kind : both_kinds)
        all.push_back(
            {"adaptive", "adaptive", "GB/s", "adaptive_method", kind,
             [kind](mover by, host_memory_kind host) {
                 return by == mover::adaptive && host == kind;
             },
             [kind](mover by, host_memory_kind host) {
                 return by != mover::adaptive && by != mover::routine && host == kind;
             },
             [&chosen, kind](measured_method const&, copy_direction way, std::size_t bytes) {
                 return method_of(chosen, way, kind, bytes);
             }});
    for (comparison& each : all)
        for (copy_method const& one : methods)
            if (each.judged(one.by, one.host) || each.others(one.by, one.host))
                each.names.push_back(one.name);
    return all;
}

} // namespace

void compare(report& out, opened_gpu const& gpu, compared_copies& copies,
             std::vector<std::size_t> const& sizes, options const& values) {
    // This also starts the engines.
    crossovers chosen = gpu.device().copy_crossovers(copies.mapping().backend());
    if (values.memory == "device") // which adaptive copies then leave to the mapping
        std::erase_if(chosen, [](copy_crossover const& each) { return !each.of_cuda_malloc; });
    std::vector<copy_method> const methods = methods_of(copies);
    std::vector<comparison> const all = comparisons(chosen, methods);
    progress bar(sizes.size() * std::size(both_directions));
    for (copy_direction const way : both_directions) {
        results rows(out, {"copy", {}}, &bar);
        std::vector<results> tables;
        for (comparison const& each : all)
            tables.emplace_back(out, each.table_of(way));
        rows.each(every(sizes), [&](results& into, std::size_t bytes) {
            into.now(formatted("{} {}", name_of(way), size_text(bytes)));
            auto const found = measure_in_turn(methods, way, bytes, values);
            for (measured_method const& one : found)
                into.add_row(result_of(one, way, bytes));
            for (std::size_t i = 0; i < all.size(); ++i)
                all[i].add(tables[i], way, bytes, found);
        });
        for (std::size_t i = 1; i <= tables.size(); ++i) // adaptive copies first
            tables[i % tables.size()].tell();
    }
}

} // namespace barmap::tool
