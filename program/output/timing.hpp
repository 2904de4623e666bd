// SPDX-License-Identifier: MIT
#pragma once

#include "output/json.hpp"

#include <chrono>
#include <cstddef>
#include <vector>

/// How times are taken: by the monotonic clock, whose own cost is subtracted. Operations under a
/// microsecond are timed many at a time, since the clock's jitter is a part of theirs; every result
/// says how many made up one sample.
namespace barmap::tool {

using clock = std::chrono::steady_clock;

[[nodiscard]] inline double nanoseconds_since(clock::time_point begin) {
    return std::chrono::duration<double, std::nano>(clock::now() - begin).count();
}

[[nodiscard]] inline double seconds_since(clock::time_point begin) {
    return std::chrono::duration<double>(clock::now() - begin).count();
}

/// The cost of reading the clock twice: the median of many; measured once.
[[nodiscard]] double clock_cost_ns();

/// Nanoseconds per operation of work(), which does that many operations.
template <class Work>
[[nodiscard]] double time_of(unsigned operations, Work&& work) {
    clock::time_point const begin = clock::now();
    work();
    double const elapsed = nanoseconds_since(begin) - clock_cost_ns();
    return elapsed > 0 ? elapsed / operations : 0;
}

/// Operations that make up one sample of an operation that takes about that long.
[[nodiscard]] inline unsigned operations_per_sample(double about_ns) {
    constexpr unsigned batch = 64;
    return about_ns < 1000 ? batch : 1;
}

/// How often something is measured: `wanted` times; if that is 0, for `budget_s`, but 5 times at
/// least, and 20,000 at most.
class repetitions {
public:
    repetitions(std::size_t wanted, double budget_s) : wanted_(wanted), budget_s_(budget_s) {}
    /// Whether there is another one, which begins now.
    [[nodiscard]] bool next() {
        constexpr std::size_t fewest = 5, most = 20'000;
        bool const more =
            wanted_ ? done_ < wanted_
                    : done_ < most && (done_ < fewest || seconds_since(begin_) <= budget_s_);
        done_ += more;
        return more;
    }
    [[nodiscard]] std::size_t done() const { return done_; } ///< or begun

private:
    std::size_t wanted_;
    double budget_s_;
    std::size_t done_ = 0;
    clock::time_point begin_ = clock::now();
};

struct summary {
    double min_ns = 0, p50_ns = 0, p90_ns = 0, p99_ns = 0, p99_9_ns = 0, max_ns = 0;
    std::size_t samples = 0;
    unsigned operations_per_sample = 1;
};

/// The samples of one operation.
class samples {
public:
    explicit samples(unsigned operations = 1) : operations_(operations) {}
    void reserve(std::size_t count) { values_.reserve(count); }
    void add(double nanoseconds) { values_.push_back(nanoseconds); }
    [[nodiscard]] std::size_t count() const { return values_.size(); }
    [[nodiscard]] unsigned operations() const { return operations_; }
    [[nodiscard]] summary summarise() const;

private:
    std::vector<double> values_;
    unsigned operations_;
};

/// Adds min_ns, p50_ns, p99_ns, samples and operations_per_sample to a row.
void put(json& row, summary const& times);
/// The same, and p90_ns, p99_9_ns and max_ns.
void put_tail(json& row, summary const& times);

} // namespace barmap::tool
