// SPDX-License-Identifier: MIT
#include "lat/lat.hpp"
#include "output/formatted.hpp"

#include "output/progress.hpp"
#include "output/table.hpp"
#include "output/units.hpp"

#include <algorithm>
#include <iterator>

namespace barmap::tool {
namespace {

std::vector<copy_method> methods_of(copy_methods& copies) {
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

/// The fastest of some methods, or null where there is none.
template <class Wanted>
measured_method const* best_of(measured_size const& size, Wanted&& wanted) {
    measured_method const* best = nullptr;
    for (measured_method const& one : size.methods)
        if (wanted(one) && (!best || one.times.p50_ns < best->times.p50_ns))
            best = &one;
    return best;
}

measured_method const* find(measured_size const& size, std::string_view name) {
    return best_of(size, [&](measured_method const& one) { return one.name == name; });
}

/// How one method does beside the best of others.
struct judgement {
    measured_method const* judged;
    measured_method const* best;
    [[nodiscard]] double ratio() const { return judged->times.p50_ns / best->times.p50_ns; }
    explicit operator bool() const { return judged && best; }
};

/// The automatic choice of a copy routine beside every routine.
judgement judge_choice(measured_size const& size) {
    return {best_of(size,
                    [](measured_method const& one) {
                        return one.by == mover::chosen && one.host == host_memory_kind::pageable;
                    }),
            best_of(size, [](measured_method const& one) { return one.by == mover::routine; })};
}

/// Adaptive copies beside every other method with such host memory.
judgement judge_adaptive(measured_size const& size, host_memory_kind host) {
    return {best_of(size,
                    [&](measured_method const& one) {
                        return one.by == mover::adaptive && one.host == host;
                    }),
            best_of(size, [&](measured_method const& one) {
                return one.by != mover::adaptive && one.by != mover::routine && one.host == host;
            })};
}

/// The method of an adaptive copy.
class crossovers {
public:
    crossovers(opened_gpu const& gpu, mapping const& through)
        : all_(gpu.device().copy_crossovers(through.backend())) {}

    [[nodiscard]] std::string method(direction way, host_memory_kind host,
                                     std::size_t bytes) const {
        std::string found;
        for (copy_crossover const& each : all_)
            if ((each.direction == copy_direction::to_gpu) == (way == direction::to_gpu) &&
                each.host == host && each.from_bytes <= bytes)
                found = each.method;
        return found;
    }

private:
    std::vector<copy_crossover> all_;
};

void add_rows(report& out, direction way, measured_size const& size, crossovers const& methods) {
    for (measured_method const& one : size.methods)
        out.add(row_of(one, way, size.bytes));
    if (judgement const chosen = judge_choice(size))
        out.add({{"measurement", "choice"},
                 {"direction", name_of(way)},
                 {"size", size.bytes},
                 {"auto_routine", chosen.judged->routine},
                 {"best", chosen.best->name},
                 {"auto_over_best", chosen.ratio()}});
    for (host_memory_kind const host : both_kinds)
        if (judgement const adaptive = judge_adaptive(size, host))
            out.add({{"measurement", "adaptive"},
                     {"direction", name_of(way)},
                     {"size", size.bytes},
                     {"host", to_string(host)},
                     {"adaptive_method", methods.method(way, host, size.bytes)},
                     {"best", adaptive.best->name},
                     {"adaptive_over_best", adaptive.ratio()}});
}

/// Puts the medians of these methods into a row; a dash where one was not measured.
void add_medians(std::vector<std::string>& row, measured_size const& size,
                 std::vector<std::string> const& names) {
    for (std::string const& name : names) {
        measured_method const* const one = find(size, name);
        row.push_back(one ? microseconds(one->times.p50_ns) : "-");
    }
}

void tell_methods(report& out, direction way, host_memory_kind host,
                  std::vector<copy_method> const& methods, std::vector<measured_size> const& sizes,
                  crossovers const& chosen) {
    std::vector<std::string> names;
    for (copy_method const& one : methods)
        if (one.by != mover::routine && one.host == host)
            names.push_back(one.name);
    std::vector<std::string> headings{formatted("{} p50 us", name_of(way))};
    headings.insert(headings.end(), names.begin(), names.end());
    headings.insert(headings.end(), {"GB/s", "best", "adaptive/best", "adaptive is"});
    table rows(headings);
    for (measured_size const& size : sizes) {
        judgement const adaptive = judge_adaptive(size, host);
        std::vector<std::string> row{size_text(size.bytes)};
        add_medians(row, size, names);
        row.push_back(
            formatted("{:.2f}", gigabytes_per_second(size.bytes, adaptive.judged->times.p50_ns)));
        row.push_back(adaptive.best->name);
        row.push_back(formatted("{:.3f}", adaptive.ratio()));
        row.push_back(chosen.method(way, host, size.bytes));
        rows.row(std::move(row));
    }
    out.say(rows.text() + "\n");
}

void tell_routines(report& out, direction way, std::vector<copy_method> const& methods,
                   std::vector<measured_size> const& sizes) {
    std::vector<std::string> names;
    for (copy_method const& one : methods)
        if (one.by == mover::routine ||
            (one.by == mover::chosen && one.host == host_memory_kind::pageable))
            names.push_back(one.name);
    std::vector<std::string> headings{formatted("{} p50 us", name_of(way))};
    headings.insert(headings.end(), names.begin(), names.end());
    headings.insert(headings.end(), {"auto GB/s", "best", "auto/best", "auto is"});
    table rows(headings);
    for (measured_size const& size : sizes) {
        judgement const chosen = judge_choice(size);
        if (!chosen)
            continue;
        std::vector<std::string> row{size_text(size.bytes)};
        add_medians(row, size, names);
        row.push_back(
            formatted("{:.2f}", gigabytes_per_second(size.bytes, chosen.judged->times.p50_ns)));
        row.push_back(chosen.best->name);
        row.push_back(formatted("{:.3f}", chosen.ratio()));
        row.push_back(chosen.judged->routine);
        rows.row(std::move(row));
    }
    out.say(rows.text() + "\n");
}

} // namespace

void compare(report& out, opened_gpu const& gpu, copy_methods& copies,
             std::vector<std::size_t> const& sizes, options const& values) {
    crossovers const chosen(gpu, copies.mapping()); // also starts the engines
    std::vector<copy_method> const methods = methods_of(copies);
    progress bar(sizes.size() * std::size(both_directions));
    for (direction const way : both_directions) {
        std::vector<measured_size> found;
        for (std::size_t const bytes : sizes) {
            bar.step(formatted("{} {}", name_of(way), size_text(bytes)));
            found.push_back(
                {bytes, measure_in_turn(methods, way, bytes, values.budget_s, values.iterations)});
            add_rows(out, way, found.back(), chosen);
        }
        for (host_memory_kind const host : both_kinds)
            tell_methods(out, way, host, methods, found, chosen);
        tell_routines(out, way, methods, found);
    }
}

} // namespace barmap::tool
