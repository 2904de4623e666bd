// SPDX-License-Identifier: MIT
#include "lat/lat.hpp"
#include "output/formatted.hpp"

#include "output/progress.hpp"
#include "output/table.hpp"
#include "output/units.hpp"

#include <functional>
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

void add_rows(report& out, copy_direction way, measured_size const& size,
              crossovers const& methods) {
    for (measured_method const& one : size.methods)
        out.add(row_of(one, way, size.bytes));
    if (judgement const chosen = judge_choice(size))
        out.add(object({{"measurement", "choice"},
                        {"direction", name_of(way)},
                        {"size", size.bytes},
                        {"auto_routine", chosen.judged->routine},
                        {"best", chosen.best->name},
                        {"auto_over_best", chosen.ratio()}}));
    for (host_memory_kind const host : both_kinds)
        if (judgement const adaptive = judge_adaptive(size, host))
            out.add(object({{"measurement", "adaptive"},
                            {"direction", name_of(way)},
                            {"size", size.bytes},
                            {"host", to_string(host)},
                            {"adaptive_method", method_of(methods, way, host, size.bytes)},
                            {"best", adaptive.best->name},
                            {"adaptive_over_best", adaptive.ratio()}}));
}

/// A method beside others, as a table tells it.
struct comparison {
    std::string name;                              ///< of the judged one, in headings
    std::string rate;                              ///< the heading of its GB/s
    std::function<bool(copy_method const&)> shows; ///< its median
    std::function<judgement(measured_size const&)> judge;
    std::function<std::string(measured_size const&, judgement const&)> chose;
};

void tell(report& out, copy_direction way, std::vector<copy_method> const& methods,
          std::vector<measured_size> const& sizes, comparison const& with) {
    std::vector<std::string> headings{formatted("{} p50 us", name_of(way))};
    std::vector<std::string> names;
    for (copy_method const& one : methods)
        if (with.shows(one))
            names.push_back(one.name);
    headings.insert(headings.end(), names.begin(), names.end());
    headings.insert(headings.end(), {with.rate, "best", with.name + " / best", with.name + " is"});
    table rows(headings);
    for (measured_size const& size : sizes) {
        judgement const found = with.judge(size);
        if (!found)
            continue;
        std::vector<std::string> row{size_text(size.bytes)};
        for (std::string const& each : names) {
            measured_method const* const one = find(size, each);
            row.push_back(one ? microseconds(one->times.p50_ns) : "-");
        }
        row.push_back(
            formatted("{:.2f}", gigabytes_per_second(size.bytes, found.judged->times.p50_ns)));
        row.push_back(found.best->name);
        row.push_back(formatted("{:.3f}", found.ratio()));
        row.push_back(with.chose(size, found));
        rows.row(std::move(row));
    }
    out.say(rows.text() + "\n");
}

} // namespace

void compare(report& out, opened_gpu const& gpu, copy_methods& copies,
             std::vector<std::size_t> const& sizes, options const& values) {
    // This also starts the engines.
    crossovers chosen = gpu.device().copy_crossovers(copies.mapping().backend());
    if (values.memory == "device") // which adaptive copies then leave to the mapping
        std::erase_if(chosen, [](copy_crossover const& each) { return !each.of_cuda_malloc; });
    std::vector<copy_method> const methods = methods_of(copies);
    progress bar(sizes.size() * std::size(both_directions));
    for (copy_direction const way : both_directions) {
        std::vector<measured_size> found;
        for (std::size_t const bytes : sizes) {
            bar.step(formatted("{} {}", name_of(way), size_text(bytes)));
            found.push_back({bytes, measure_in_turn(methods, way, bytes, values)});
            add_rows(out, way, found.back(), chosen);
        }
        for (host_memory_kind const host : both_kinds)
            tell(out, way, methods, found,
                 {.name = "adaptive",
                  .rate = "GB/s",
                  .shows =
                      [&](copy_method const& one) {
                          return one.by != mover::routine && one.host == host;
                      },
                  .judge = [&](measured_size const& size) { return judge_adaptive(size, host); },
                  .chose =
                      [&](measured_size const& size, judgement const&) {
                          return method_of(chosen, way, host, size.bytes);
                      }});
        tell(out, way, methods, found,
             {.name = "auto",
              .rate = "auto GB/s",
              .shows =
                  [](copy_method const& one) {
                      return one.by == mover::routine ||
                             (one.by == mover::chosen && one.host == host_memory_kind::pageable);
                  },
              .judge = judge_choice,
              .chose = [](measured_size const&,
                          judgement const& one) { return one.judged->routine; }});
    }
}

} // namespace barmap::tool
