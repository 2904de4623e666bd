// SPDX-License-Identifier: MIT
#include "stress/stress_engines.hpp"

#include "measure/link_load.hpp"
#include "measure/usable_engines.hpp"
#include "measure/verify_copies.hpp"
#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "stress/engine_hammers.hpp"

#include <barmap/error.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
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

/// The memory that one engine copies.
struct engine_target {
    std::string engine;
    reached_memory reached;
    std::string_view kind; ///< of the memory
};

bool stress_pieces(report& out, opened_gpu const& gpu, engine_target const& target,
                   stress_options const& values) {
    constexpr unsigned threads = 4;
    outcome found;
    clock::time_point const begin = clock::now();
    try {
        touched_host const host(host_memory_kind::pinned, piece_hammer::host_bytes(region));
        piece_hammer hammer({at_once(copier_through(target.reached.mapping, host.bytes()), threads),
                             region, host.bytes()},
                            values.seed);
        progress bar(values.pieces);
        auto const reach = [&](std::uint64_t done) {
            bar.reach(done, formatted("pieces by {}", target.engine));
            found.done = done;
        };
        hammer.run(values.pieces / 2, reach);
        {
            link_load const load(gpu);
            hammer.run(values.pieces - values.pieces / 2, reach);
        }
        found = {hammer.pieces(), hammer.bytes(), hammer.wrong(), 0};
    } catch (std::exception const& failure) {
        found.problem = failure.what();
    }
    found.seconds = seconds_since(begin);
    return tell(
        out,
        object({{"measurement", "pieces"},
                {"engine", target.engine},
                {"memory", target.kind},
                {"pieces", found.done},
                {"bytes", found.bytes},
                {"wrong", found.wrong}}),
        found,
        formatted("{}: {} random pieces, {}", target.engine, found.done, size_text(found.bytes)));
}

/// One order, on a separate thread.
struct pair_run {
    pair_order order;
    std::string_view name;
    std::size_t offset; ///< of its part of the memory
    outcome found{};
    std::atomic<std::uint64_t> done{0};
    std::atomic<bool> ended{false};

    void run(mapping const& through, touched_host const& host, stress_options const& values) {
        clock::time_point const begin = clock::now();
        constexpr std::size_t bytes = region / 2;
        try {
            found.wrong =
                hammer_pairs({copier_through(through, host.bytes(), offset), bytes, host.bytes()},
                             through.window(offset, bytes), order, values.pairs,
                             values.seed + offset, [this](std::uint64_t now) { done = now; });
            found.done = values.pairs;
        } catch (std::exception const& failure) {
            found.problem = failure.what();
        }
        found.seconds = seconds_since(begin);
        ended = true;
    }
};

bool stress_pairs(report& out, engine_target const& target, stress_options const& values) {
    std::array<pair_run, 2> runs{
        {{pair_order::mapping_then_engine, "written through the mapping, read by the engine", 0},
         {pair_order::engine_then_mapping, "written by the engine, read through the mapping",
          region / 2}}};
    {
        std::array hosts{touched_host(host_memory_kind::pinned, largest_pair),
                         touched_host(host_memory_kind::pinned, largest_pair)};
        std::array<std::thread, 2> threads; // without a CUDA context, as above
        for (std::size_t i = 0; i < runs.size(); ++i)
            threads[i] =
                std::thread([&, i] { runs[i].run(target.reached.mapping, hosts[i], values); });
        progress bar(2 * values.pairs);
        while (!runs[0].ended || !runs[1].ended) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            bar.reach(runs[0].done + runs[1].done, formatted("pairs by {}", target.engine));
        }
        for (std::thread& each : threads)
            each.join();
    }
    bool good = true;
    for (pair_run const& each : runs)
        good &= tell(out,
                     object({{"measurement", "pairs"},
                             {"engine", target.engine},
                             {"memory", target.kind},
                             {"order", each.name},
                             {"pairs", each.found.done},
                             {"stale", each.found.wrong}}),
                     each.found,
                     formatted("{}: {} pairs {}", target.engine, each.found.done, each.name));
    return good;
}

} // namespace

bool stress_engines(report& out, opened_gpu const& gpu, stress_options const& values) {
    bool good = true;
    for (std::string const& engine : usable_engines(gpu)) {
        engine_target target{engine, reach_for(engine, gpu, values, region), values.memory};
        if (target.reached.memory.size() == 0)
            target.kind = "barmap";
        if (values.pairs > 0)
            good &= stress_pairs(out, target, values);
        if (values.pieces > 0)
            good &= stress_pieces(out, gpu, target, values);
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
