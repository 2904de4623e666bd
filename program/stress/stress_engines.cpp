// SPDX-License-Identifier: MIT
#include "stress/stress_engines.hpp"

#include "measure/link_load.hpp"
#include "measure/reached_memory.hpp"
#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "stress/engine_hammers.hpp"

#include <barmap/error.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace barmap::tool {
namespace {

constexpr std::size_t region = 256 * KiB; // with the host's side it fits into a CPU core's cache

struct outcome {
    std::uint64_t done = 0, bytes = 0, wrong = 0;
    double seconds = 0;
    std::string problem{};
    [[nodiscard]] bool good() const { return problem.empty() && wrong == 0; }
};

/// Adds what all outcomes have. @return whether it was good
bool tell(report& out, json row, outcome const& found, std::string_view what) {
    row["seconds"] = found.seconds;
    row["passed"] = found.good();
    row["problem"] = or_null(found.problem);
    out.add(std::move(row));
    out.say(formatted("{}, {} wrong, in {:.1f} s: {}\n", what, found.wrong, found.seconds,
                      verdict(found.good(), found.problem)));
    return found.good();
}

bool stress_pieces(report& out, opened_gpu const& gpu, running_engine const& which,
                   reached_memory const& target, stress_options const& values) {
    outcome found;
    clock::time_point const begin = clock::now();
    try {
        touched_host const host(host_memory_kind::pinned, piece_hammer::host_bytes(region));
        engine_path const path(which.worker, target.memory.address(), region, host.bytes());
        piece_hammer hammer({path, region, host.bytes()}, values.seed);
        progress bar(values.pieces);
        auto const reach = [&](std::uint64_t done) {
            bar.reach(done, formatted("pieces by {}", which.name));
            found.done = done;
        };
        hammer.run(values.pieces / 2, reach);
        {
            link_load const load(gpu);
            hammer.run(values.pieces - values.pieces / 2, reach);
        }
        found = {hammer.pieces(), hammer.bytes(), hammer.wrong(), 0};
    } catch (error const& failure) {
        found.problem = failure.what();
    }
    found.seconds = seconds_since(begin);
    return tell(
        out,
        object({{"measurement", "pieces"},
                {"engine", which.name},
                {"pieces", found.done},
                {"bytes", found.bytes},
                {"wrong", found.wrong}}),
        found,
        formatted("{}: {} random pieces, {}", which.name, found.done, size_text(found.bytes)));
}

/// One order, on a separate thread.
struct pair_run {
    pair_order order;
    std::string_view name;
    std::size_t offset; ///< of its part of the memory
    outcome found{};
    std::atomic<std::uint64_t> done{0};
    std::atomic<bool> ended{false};

    void run(running_engine const& which, reached_memory const& target, touched_host const& host,
             stress_options const& values) {
        clock::time_point const begin = clock::now();
        constexpr std::size_t bytes = region / 2;
        try {
            engine_path const path(which.worker, target.memory.address() + offset, bytes,
                                   host.bytes());
            found.wrong = hammer_pairs(
                {path, bytes, host.bytes()}, target.mapping.window(offset, bytes), order,
                values.pairs, values.seed + offset, [this](std::uint64_t now) { done = now; });
            found.done = values.pairs;
        } catch (std::exception const& failure) {
            found.problem = failure.what();
        }
        found.seconds = seconds_since(begin);
        ended = true;
    }
};

bool stress_pairs(report& out, running_engine const& which, reached_memory const& target,
                  stress_options const& values) {
    std::array<pair_run, 2> runs{
        {{pair_order::mapping_then_engine, "written through the mapping, read by the engine", 0},
         {pair_order::engine_then_mapping, "written by the engine, read through the mapping",
          region / 2}}};
    {
        std::array hosts{touched_host(host_memory_kind::pinned, largest_pair),
                         touched_host(host_memory_kind::pinned, largest_pair)};
        std::array<std::thread, 2> threads; // without a CUDA context, as above
        for (std::size_t i = 0; i < runs.size(); ++i)
            threads[i] = std::thread([&, i] { runs[i].run(which, target, hosts[i], values); });
        progress bar(2 * values.pairs);
        while (!runs[0].ended || !runs[1].ended) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            bar.reach(runs[0].done + runs[1].done, formatted("pairs by {}", which.name));
        }
        for (std::thread& each : threads)
            each.join();
    }
    bool good = true;
    for (pair_run const& each : runs)
        good &=
            tell(out,
                 object({{"measurement", "pairs"},
                         {"engine", which.name},
                         {"order", each.name},
                         {"pairs", each.found.done},
                         {"stale", each.found.wrong}}),
                 each.found, formatted("{}: {} pairs {}", which.name, each.found.done, each.name));
    return good;
}

} // namespace

bool stress_engines(report& out, opened_gpu const& gpu, stress_options const& values) {
    bool good = true;
    reached_memory const target = reach(gpu, values, region);
    for (running_engine const& which : usable_engines(gpu)) {
        if (values.pairs > 0)
            good &= stress_pairs(out, which, target, values);
        if (values.pieces > 0)
            good &= stress_pieces(out, gpu, which, target, values);
    }
    for (engine_report const& each : gpu.device().started_engines())
        out.add(object({{"measurement", "engine"},
                        {"engine", each.name},
                        {"state", to_string(each.state)},
                        {"copies", each.copies},
                        {"bytes", each.bytes},
                        {"failures", each.failures}}));
    return good;
}

} // namespace barmap::tool
