// SPDX-License-Identifier: MIT
#include "transfer/contest.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <utility>

namespace barmap {
namespace {

constexpr double noise = 1 + policy::contest_noise / 100.0;
// A candidate that takes `hopeless` times as long as the best, and falls further behind, is not
// tried on larger sizes. One that catches up may have a long start and win later.
constexpr double hopeless = policy::contest_hopeless;

// Nanoseconds. One sample must be long against the clock's own 25 ns, and have as few copies behind
// one another as possible: with branch predictors and caches that other candidates have left, loads
// of 4 KiB through PCIe take 5.4 us, and behind one another 3.9 (H200).
constexpr double sample_time = policy::contest_sample;
constexpr double long_sample_time = policy::contest_long_sample;

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

contest::contest(std::size_t candidates, std::size_t smallest, std::size_t largest,
                 timed_copies time)
    : count_(candidates), smallest_(smallest), largest_(largest), time_(std::move(time)) {
    assert(candidates >= 1 && candidates <= max_candidates);
    for (auto& times : shortest_)
        times.fill(std::numeric_limits<double>::infinity());
}

/// Measures all candidates in turn, round after round, so that what disturbs one disturbs all.
/// @return nanoseconds that it took
double contest::compete(std::span<candidate> candidates, std::size_t bytes) {
    double const guess = std::max(1.0, time_(candidates[0].number, bytes, 1));
    auto const repeats =
        static_cast<unsigned>(std::clamp(std::ceil(sample_time / guess), 1.0, 64.0));
    std::size_t const count = guess * repeats < long_sample_time
                                  ? policy::contest_rounds
                                  : policy::contest_long_rounds;
    double spent = std::isfinite(guess) ? guess : 0;
    for (std::size_t round = 0; round < count; ++round)
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            candidate& turn = candidates[(round + i) % candidates.size()];
            double const sample = time_(turn.number, bytes, repeats);
            turn.samples[round] = sample / repeats;
            if (std::isfinite(sample))
                spent += sample;
        }
    for (candidate& each : candidates) {
        // The upper quartile: half of the samples follow one of the same candidate, which finds what
        // it needs in caches and branch predictors, as a program's next copy seldom does.
        auto const quartile = each.samples.begin() + static_cast<std::ptrdiff_t>(count * 3 / 4);
        std::nth_element(each.samples.begin(), quartile,
                         each.samples.begin() + static_cast<std::ptrdiff_t>(count));
        each.typical = *quartile;
        for (std::size_t round = 0; round < count; ++round)
            if (!std::isfinite(each.samples[round])) // it has failed
                each.typical = each.samples[round];
    }
    return spent;
}

void contest::measure(std::int64_t nanoseconds) {
    std::array<candidate, max_candidates> storage;
    for (std::size_t i = 0; i < count_; ++i)
        storage[i].number = i;
    std::span<candidate> candidates(storage.data(), count_);
    // A round that does not count: page faults, the power-up of wide registers, the clock's rise.
    (void)compete(candidates, smallest_);
    double left = static_cast<double>(nanoseconds), spent = 0;
    for (std::size_t bytes = smallest_; bytes <= largest_ && 2 * spent <= left; bytes *= 2) {
        spent = compete(candidates, bytes);
        left -= spent;

        double best = std::numeric_limits<double>::infinity();
        for (candidate const& each : candidates) {
            double& shortest = shortest_[copy::size_class(bytes)][each.number];
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

std::array<std::size_t, copy::size_classes> contest::winners() const {
    std::array<std::size_t, copy::size_classes> result;
    std::size_t winner = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
        std::span<double const> const times(shortest_[i].data(), count_);
        if (std::isfinite(*std::min_element(times.begin(), times.end())))
            winner = prefer(times);
        result[i] = winner;
    }
    return result;
}

std::vector<contest::winner_from> contest::winners_by_size() const {
    std::vector<winner_from> result{{0, 0}};
    auto const add = [&](std::size_t from, std::size_t winner) {
        if (result.back().winner != winner)
            result.push_back({from, winner});
    };
    auto const times_of = [&](std::size_t bytes) {
        return std::span(shortest_[copy::size_class(bytes)].data(), count_);
    };
    auto const is_measured = [&](std::size_t bytes) {
        return bytes <= largest_ && std::isfinite(std::ranges::min(times_of(bytes)));
    };
    if (is_measured(smallest_))
        add(smallest_, prefer(times_of(smallest_)));
    for (std::size_t low = smallest_; is_measured(2 * low); low *= 2) {
        std::span<double const> const at_low = times_of(low), at_high = times_of(2 * low);
        std::size_t const parts = std::min(policy::contest_steps, low);
        for (std::size_t part = 1; part <= parts; ++part) {
            double const share = static_cast<double>(part) / static_cast<double>(parts);
            std::array<double, max_candidates> times;
            for (std::size_t i = 0; i < count_; ++i) // infinite at one end: it has lost
                times[i] =
                    std::isfinite(at_low[i]) ? std::lerp(at_low[i], at_high[i], share) : at_low[i];
            add(low + low / parts * part, prefer({times.data(), count_}));
        }
    }
    return result;
}

} // namespace barmap
