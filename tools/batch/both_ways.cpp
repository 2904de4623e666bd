// SPDX-License-Identifier: MIT
#include "batch/batch.hpp"

#include "batch/batch_kernels.ptx.hpp"
#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "output/table.hpp"
#include "output/units.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <iterator>
#include <optional>
#include <thread>

namespace barmap::tool {
namespace {

constexpr copy_direction both_ways[] = {copy_direction::to_cpu, copy_direction::to_gpu};
constexpr std::array<std::string_view, 2> host_names{"d2h", "h2d"}, gpu_names{"there", "back"};

/// One direction, on a thread of its own: several batches in turn, all of them ready before the
/// time begins.
class lane {
public:
    lane(batch_bench const& bench, batch_pools const& pools, std::string_view method,
         copy_direction way, batch_order order, batch_shape const& shape)
        : bench_(bench), way_(way), bytes_(shape.bytes()) {
        cuda::context_scope const scope = bench.gpu.enter();
        piece_picker picker(shape.size, pools.size(), order, bench.values.seed);
        std::size_t const room = pools.size() / piece_picker::stride(shape.size, order);
        std::size_t const turns = std::clamp<std::size_t>(room / shape.pieces, 1, most_turns);
        places_ = picker.pick(turns * shape.pieces); // disjoint, so that all can be verified
        pieces_ = pools.pieces(way, places_);
        std::vector<left_out> missing; // was reported already
        for (std::size_t i = 0; i < turns; ++i) {
            methods_.push_back(make_batch_method(method, bench.gpu, bench.kernels, missing));
            methods_.back()->prepare(std::span(pieces_).subspan(i * shape.pieces, shape.pieces));
        }
    }

    /// Copies until it is told to stop, and each batch once at least.
    void run(std::atomic<unsigned>& waiting, std::atomic<bool> const& stop) {
        try {
            --waiting;
            while (waiting > 0)
                std::this_thread::yield();
            cuda::context_scope const scope = bench_.gpu.enter();
            clock::time_point const begin = clock::now();
            for (std::size_t i = 0; !stop || i < methods_.size(); ++i) {
                batch_method& next = *methods_[i % methods_.size()];
                next.submit();
                next.wait();
                ++batches_;
            }
            seconds_ = seconds_since(begin);
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    /// @throws what the copies threw
    [[nodiscard]] double gigabytes_per_second() const {
        if (failure_)
            std::rethrow_exception(failure_);
        return static_cast<double>(batches_ * bytes_) / seconds_ / 1e9;
    }
    [[nodiscard]] copy_direction way() const { return way_; }
    [[nodiscard]] std::vector<place> const& places() const { return places_; }
    [[nodiscard]] std::string name() const { return methods_.front()->name(); }

private:
    static constexpr std::size_t most_turns = 4;

    batch_bench const& bench_;
    copy_direction way_;
    std::size_t bytes_;
    std::vector<place> places_;
    std::vector<copy_piece> pieces_;
    std::vector<std::unique_ptr<batch_method>> methods_;
    std::size_t batches_ = 0;
    double seconds_ = 0;
    std::exception_ptr failure_;
};

/// How long each method works at a shape.
double seconds_of(batch_bench const& bench) {
    return 4 * bench.values.budget_s;
}

/// @return GB/s of the lanes
std::array<double, 2> run_both(std::array<lane, 2>& lanes, double seconds) {
    std::atomic<unsigned> waiting{std::size(both_ways)};
    std::atomic<bool> stop{false};
    {
        std::array<std::thread, 2> threads;
        for (std::size_t i = 0; i < lanes.size(); ++i)
            threads[i] = std::thread([&, i] { lanes[i].run(waiting, stop); });
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
        stop = true;
        for (std::thread& each : threads)
            each.join();
    }
    return {lanes[0].gigabytes_per_second(), lanes[1].gigabytes_per_second()};
}

} // namespace

bool measure_both_ways(batch_bench const& bench) {
    std::vector<batch_shape> const shapes = shapes_of(bench.values, {1024}, {4 * KiB, 64 * KiB});
    batch_pools pools = bench.pools(bench.values.pool);
    // Between two GPUs each pushes.
    std::optional<gpu_kernels> kernels;
    std::optional<batch_bench> of_peer;
    if (bench.values.between == "peer") {
        cuda::context_scope const scope = bench.other->enter();
        kernels.emplace(ptx::batch_kernels);
        of_peer.emplace(batch_bench{bench.out, *bench.other, *kernels, bench.values, bench.other});
    }
    batch_bench const& way_back = of_peer ? *of_peer : bench;
    auto const& ways = bench.values.between == "host" ? host_names : gpu_names;
    std::vector<std::string> names;
    std::vector<left_out> missing;
    for (std::string const& each : bench.values.methods)
        if (make_batch_method(each, bench.gpu, bench.kernels, missing))
            names.push_back(each);
    bench.tell(missing);
    progress bar(shapes.size() * names.size() * bench.values.orders.size());
    table rows({"both directions", "order", "method", formatted("{} GB/s", ways[0]),
                formatted("{} GB/s", ways[1]), "sum GB/s"});
    rows.left_from(6);
    bool good = true;
    for (batch_order const order : bench.orders())
        for (batch_shape const& shape : shapes)
            for (std::string const& name : names) {
                bar.step(formatted("both {} {}", name_of(order), shape.text()));
                std::array<lane, 2> lanes{lane(bench, pools, name, both_ways[0], order, shape),
                                          lane(way_back, pools, name, both_ways[1], order, shape)};
                for (copy_direction const way : both_ways)
                    pools.clear(way, pools.size());
                std::array<double, 2> const rates = run_both(lanes, seconds_of(bench));
                batch_faults faults;
                for (lane const& each : lanes) // the first has what the second one reads into
                    faults += pools.compare(each.way(), each.places(), pools.size());
                json row{{"measurement", "both"},
                         {"order", name_of(order)},
                         {"pieces", shape.pieces},
                         {"size", shape.size},
                         {"method", lanes[0].name()}};
                for (std::size_t i = 0; i < rates.size(); ++i)
                    row[formatted("{}_gb_per_s", ways[i])] = rates[i];
                row["gb_per_s"] = rates[0] + rates[1];
                put(row, faults);
                bench.out.add(std::move(row));
                rows.row({shape.text(), std::string(name_of(order)), lanes[0].name(),
                          formatted("{:.2f}", rates[0]), formatted("{:.2f}", rates[1]),
                          faults.none() ? formatted("{:.2f}", rates[0] + rates[1]) : "WRONG"});
                good &= faults.none();
            }
    bench.out.say(rows.text() + "\n");
    return good;
}

} // namespace barmap::tool
