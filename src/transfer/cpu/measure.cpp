// SPDX-License-Identifier: MIT
#include "transfer/cpu/measure.hpp"

#include "transfer/cpu/routines.hpp"

#include <barmap/copy.hpp>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>

namespace barmap::copy {

namespace {

constexpr double noise = 1.02;
// A routine that takes so many times the best, and falls further behind, is not tried on larger
// sizes. One that catches up may have a long start and win later.
constexpr double hopeless = 2;

// Up to 8 bytes every routine makes the same accesses. From 1 MiB on, the link sets the rate.
constexpr std::size_t smallest = 16;
constexpr std::size_t largest = 1 << 20;

// All is measured twice, with the other direction in between: what disturbs the machine for some
// milliseconds makes a time longer and never shorter, so that the shorter of the two counts.
constexpr int looks = 2;

// Nanoseconds of one look. Reading 64 KiB takes 65 us on PCIe, where the rate has stopped changing;
// writing 1 MiB takes 43 us.
constexpr std::int64_t store_budget = 3'000'000;
constexpr std::int64_t load_budget = 2'000'000;

// One sample must be long against the clock's own 25 ns.
constexpr double sample_time = 6'000;
constexpr double long_sample_time = 10'000;
constexpr std::size_t rounds = 4;
constexpr std::size_t rounds_of_long_samples = 3;

constexpr std::size_t max_candidates = 16;

enum class direction { store, load };

struct candidate {
    copy_routine const* routine;
    std::size_t number; ///< in the order of preference
    std::array<double, rounds> samples;
    double typical;    ///< nanoseconds of one transfer, its fence included
    double times_best; ///< the same, divided by the winner's
};

/// What is known of one direction: the shortest time of each candidate in each size class.
struct contest {
    direction way;
    std::int64_t budget; ///< of one look
    std::array<copy_routine const*, max_candidates> routines;
    std::size_t count;
    std::array<std::array<double, max_candidates>, size_classes> shortest;
};

/// Where the candidates compete: GPU memory, host memory, and the plan that write() and read() see.
struct arena {
    std::span<std::byte> gpu;
    std::span<std::byte> host;
    copy_plan plan;
    nanosecond_clock now;

    /// Time of one transfer, averaged over so many to the same place, as when a program updates it.
    double time(direction way, copy_routine const& routine, std::size_t bytes, unsigned repeats) {
        (way == direction::store ? plan.store : plan.load).fill(&routine);
        window const there{gpu.data(), bytes, &plan};
        std::int64_t const begin = now();
        for (unsigned i = 0; i < repeats; ++i) {
            if (way == direction::store) {
                write(there, host.first(bytes));
            } else {
                read(host.first(bytes), there);
            }
        }
        return static_cast<double>(now() - begin) / repeats;
    }
};

/// Measures all candidates in turn, round after round, so that what disturbs one disturbs all.
void compete(arena& arena, direction way, std::span<candidate> candidates, std::size_t bytes) {
    double const guess = std::max(1.0, arena.time(way, *candidates[0].routine, bytes, 1));
    auto const repeats =
        static_cast<unsigned>(std::clamp(std::ceil(sample_time / guess), 1.0, 64.0));
    std::size_t const count = guess * repeats < long_sample_time ? rounds : rounds_of_long_samples;
    for (std::size_t round = 0; round < count; ++round) {
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            candidate& turn = candidates[(round + i) % candidates.size()];
            turn.samples[round] = arena.time(way, *turn.routine, bytes, repeats);
        }
    }
    for (candidate& each : candidates) {
        // The lower quartile: what disturbs a sample, on a machine that others share, only ever
        // makes it longer, and often for more than half of so few.
        auto const quartile = each.samples.begin() + static_cast<std::ptrdiff_t>(count / 4);
        std::nth_element(each.samples.begin(), quartile,
                         each.samples.begin() + static_cast<std::ptrdiff_t>(count));
        each.typical = *quartile;
    }
}

/// Measures size after size, as long as the budget lasts.
void look(arena& arena, contest& known) {
    std::array<candidate, max_candidates> storage;
    for (std::size_t i = 0; i < known.count; ++i) {
        storage[i] = {known.routines[i], i, {}, 0, std::numeric_limits<double>::infinity()};
    }
    std::span<candidate> candidates(storage.data(), known.count);
    // A round that does not count: page faults, the power-up of wide registers, the clock's rise.
    compete(arena, known.way, candidates, smallest);
    std::int64_t const end = arena.now() + known.budget;
    std::int64_t spent = 0;
    for (std::size_t bytes = smallest; bytes <= arena.host.size(); bytes *= 2) {
        std::int64_t const begin = arena.now();
        if (begin + 2 * spent > end) {
            break;
        }
        compete(arena, known.way, candidates, bytes);
        spent = arena.now() - begin;

        double best = std::numeric_limits<double>::infinity();
        for (candidate const& each : candidates) {
            double& shortest = known.shortest[size_class(bytes)][each.number];
            shortest = std::min(shortest, each.typical);
            best = std::min(best, each.typical);
        }
        auto const lost =
            std::remove_if(candidates.begin(), candidates.end(), [&](candidate& each) {
                double const before = std::exchange(each.times_best, each.typical / best);
                return each.times_best > hopeless && each.times_best >= before;
            });
        candidates = candidates.first(static_cast<std::size_t>(lost - candidates.begin()));
    }
}

/// The winner of each size class.
std::array<copy_routine const*, size_classes> winners(contest const& known) {
    std::array<copy_routine const*, size_classes> chosen;
    copy_routine const* winner = known.routines[0];
    for (std::size_t i = 0; i < size_classes; ++i) {
        std::span<double const> const times(known.shortest[i].data(), known.count);
        if (*std::min_element(times.begin(), times.end()) <
            std::numeric_limits<double>::infinity()) {
            winner = known.routines[prefer(times)];
        }
        chosen[i] = winner; // larger classes inherit what is not measured any more
    }
    return chosen;
}

} // namespace

std::size_t prefer(std::span<double const> times) noexcept {
    double const least = *std::min_element(times.begin(), times.end());
    auto const first = std::find_if(times.begin(), times.end(),
                                    [&](double time) { return time <= least * noise; });
    return static_cast<std::size_t>(first - times.begin());
}

std::int64_t steady_nanoseconds() noexcept {
    auto const now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

copy_plan measure_plan_among(std::span<copy_routine const* const> routines,
                             std::span<std::byte> scratch, cache_kind kind,
                             nanosecond_clock now) noexcept {
    assert(!routines.empty() && routines.size() <= max_candidates);
    copy_plan plan = plan_of_one(*routines.front(), kind);
    std::size_t const bytes = std::min(std::bit_floor(scratch.size()), largest);
    auto const align = std::align_val_t{4096};
    auto const drop = [&](std::byte* memory) { ::operator delete(memory, align); };
    std::unique_ptr<std::byte, decltype(drop)> const host(
        static_cast<std::byte*>(::operator new(bytes, align, std::nothrow)), drop);
    if (bytes < smallest || host == nullptr) {
        return plan;
    }
    std::memset(host.get(), 0x5a, bytes); // untouched pages would all be the one page of zeros
    arena arena{scratch, {host.get(), bytes}, plan, now};

    contest stores{direction::store, store_budget, {}, 0, {}};
    contest loads{direction::load, load_budget, {}, 0, {}};
    for (copy_routine const* routine : routines) {
        stores.routines[stores.count++] = routine;
        auto const end = loads.routines.begin() + static_cast<std::ptrdiff_t>(loads.count);
        if (std::none_of(loads.routines.begin(), end, [&](copy_routine const* each) {
                return each->load == routine->load; // several routines may share one load
            })) {
            loads.routines[loads.count++] = routine;
        }
    }
    for (contest* each : {&stores, &loads}) {
        for (auto& times : each->shortest) {
            times.fill(std::numeric_limits<double>::infinity());
        }
    }
    for (int i = 0; i < looks; ++i) {
        look(arena, stores);
        look(arena, loads);
    }
    plan.store = winners(stores);
    plan.load = winners(loads);
    return plan;
}

copy_plan measure_plan(std::span<std::byte> scratch, cache_kind kind) noexcept {
    std::array<copy_routine const*, max_candidates> usable;
    std::size_t count = 0;
    for (copy_routine const& routine : all_routines()) {
        if (supported(routine) && !only_when_asked_for(routine) && count < usable.size()) {
            usable[count++] = &routine;
        }
    }
    return measure_plan_among({usable.data(), count}, scratch, kind);
}

} // namespace barmap::copy
