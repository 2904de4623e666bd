// SPDX-License-Identifier: MIT
#include "batch/batch.hpp"

#include "output/formatted.hpp"
#include "output/units.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <optional>

namespace barmap::tool {
namespace {

struct measured {
    std::string method{};
    samples times{}, submits{};
    std::optional<batch_faults> faults{}; ///< nothing: not verified
    std::string problem{};                ///< empty: no failure
};

/// A method, with one object for each batch in flight, and the pieces of the next batches.
struct candidate {
    std::string name; ///< on the command line
    std::vector<std::unique_ptr<batch_method>> methods;
    std::vector<copy_piece> pieces{};
    measured found{};
    bool is_left_out = false;

    [[nodiscard]] batch_method& method() const { return *methods.front(); }
    /// Splits the pieces among the batches.
    void prepare() {
        std::size_t const each = pieces.size() / methods.size();
        for (std::size_t i = 0; i < methods.size(); ++i)
            methods[i]->prepare(std::span(pieces).subspan(i * each, each));
    }
    void submit() {
        for (auto const& each : methods)
            each->submit();
    }
    void wait() {
        for (auto const& each : methods)
            each->wait();
    }

    /// Stops measuring a method at a shape after its first failure there.
    template <class Work>
    void attempt(Work&& work) {
        if (is_left_out || !found.problem.empty())
            return;
        try {
            work();
        } catch (error const& failure) {
            found.problem = failure.what();
        }
    }
};

class table_of_batches {
public:
    explicit table_of_batches(batch_bench const& bench)
        : bench_(bench), pools_(bench.pools(bench.values.pool)) {
        for (named_method& first : bench.methods()) {
            candidate made{first.name, {}};
            made.methods.push_back(std::move(first.method));
            std::vector<left_out> missing; // already reported
            while (made.methods.size() < bench.values.in_flight)
                made.methods.push_back(
                    make_batch_method(first.name, bench.gpu, bench.kernels, missing));
            candidates_.push_back(std::move(made));
        }
    }

    bool measure() {
        std::vector<std::size_t> const counts{1, 4, 16, 64, 256, 1024, 4096};
        std::vector<batch_shape> const shapes =
            shapes_of(bench_.values, counts, bench_.values.sizes);
        auto const directions = bench_.directions();
        auto const orders = bench_.orders();
        if (!candidates_.empty())
            bench_.out.say(formatted("microseconds of {}; GB/s at the median of each\n",
                                     candidates_.front().method().name()));
        progress bar(shapes.size() * directions.size() * orders.size());
        bool good = true;
        for (copy_direction const way : directions)
            for (batch_order const order : orders) {
                auto const measure_shape = [&](results& into, batch_shape const& shape) {
                    into.now(
                        formatted("{} {} {}", bench_.name_of(way), name_of(order), shape.text()));
                    measure(way, order, shape);
                    tell(way, order, shape, into);
                };
                good &= tool::measure(bench_.out, {"batch", columns(way, order)}, every(shapes),
                                      measure_shape, &bar);
            }
        return good;
    }

private:
    void measure(copy_direction way, batch_order order, batch_shape const& shape) {
        std::uint64_t const seed = bench_.values.seed;
        for (candidate& each : candidates_) {
            each.found = {};
            each.is_left_out = each.name == "one" && order == batch_order::random;
            each.attempt([&] {
                each.found.faults = verify_batch(each.method(), pools_, way, order, shape, seed);
            });
        }
        piece_picker picker(shape.size, pools_.size(), order, seed + 1);
        auto const choose = [&](candidate& each) {
            each.pieces = pools_.pieces(way, picker.pick(each.methods.size() * shape.pieces));
            each.prepare();
        };
        for (candidate& each : candidates_)
            each.attempt([&] {
                choose(each);
                each.submit(); // first executions are slow
                each.wait();
            });
        for (repetitions rounds(bench_.values.iterations, bench_.values.budget_s); rounds.next();)
            for (std::size_t i = 0; i < candidates_.size(); ++i) {
                candidate& each = candidates_[(i + rounds.done()) % candidates_.size()];
                each.attempt([&] {
                    if (!bench_.values.same && !each.method().keeps_pieces())
                        choose(each);
                    time(each);
                });
            }
        for (candidate& each : candidates_)
            each.found.method = each.method().name(); // another engine may have taken over
    }

    static void time(candidate& each) {
        clock::time_point const begin = clock::now();
        each.submit();
        double const submitted = nanoseconds_since(begin);
        each.wait();
        double const done = nanoseconds_since(begin);
        each.found.times.add(std::max(0.0, done - clock_cost_ns()));
        each.found.submits.add(std::max(0.0, submitted - clock_cost_ns()));
    }

    [[nodiscard]] std::vector<column> columns(copy_direction way, batch_order order) const {
        std::vector<column> found{formatted("{} {}", bench_.name_of(way), name_of(order)), "p50 us",
                                  "p99 us", "submit us"};
        for (candidate const& each : candidates_)
            found.emplace_back(each.name + " GB/s");
        return found;
    }

    void tell(copy_direction way, batch_order order, batch_shape const& shape,
              results& into) const {
        std::vector<std::string> cells{shape.text()};
        for (candidate const& each : candidates_) {
            measured const& found = each.found;
            summary const times = found.times.summarise();
            double const submit_ns = found.submits.summarise().p50_ns;
            bool const timed = times.samples > 0;
            if (each.is_left_out) {
                cells.push_back("-");
                continue;
            }
            std::size_t const batches = each.methods.size();
            double const rate =
                timed ? gigabytes_per_second(batches * shape.bytes(), times.p50_ns) : 0;
            if (cells.size() == 1)
                for (double const ns : {times.p50_ns, times.p99_ns, submit_ns})
                    cells.push_back(timed ? microseconds(ns) : "-");
            batch_faults const faults = found.faults.value_or(batch_faults{});
            bool const works = found.problem.empty();
            cells.push_back(works ? rate_or_wrong(rate, faults) : "failed");
            into.add_row(result_row({{"direction", bench_.name_of(way)}, {"order", name_of(order)}})
                             .with(shape)
                             .has("bytes", shape.bytes())
                             .has("method", found.method)
                             .with(times)
                             .has("in_flight", batches)
                             .has("gb_per_s", rate)
                             .has("submit_us", submit_ns / 1000)
                             .with(faults)
                             .has("verified", found.faults.has_value())
                             .has("problem", or_null(found.problem)),
                         works && faults.none());
        }
        into.add_line(std::move(cells));
    }

    batch_bench const& bench_;
    batch_pools pools_;
    std::vector<candidate> candidates_;
};

} // namespace

bool measure_batches(batch_bench const& bench) {
    return table_of_batches(bench).measure();
}

} // namespace barmap::tool
