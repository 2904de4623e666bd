// SPDX-License-Identifier: MIT
#include "batch/batch.hpp"

#include "batch/cublas.hpp"
#include "measure/cuda_stream.hpp"
#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "output/table.hpp"
#include "output/units.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace barmap::tool {
namespace {

class cuda_event {
public:
    cuda_event() { cuda::check(cuda::api().event_create(&event_, 0), "create a CUDA event"); }
    cuda_event(cuda_event const&) = delete;
    cuda_event& operator=(cuda_event const&) = delete;
    ~cuda_event() { cuda::api().event_destroy(event_); }
    [[nodiscard]] CUevent get() const noexcept { return event_; }
    void record(CUstream stream) const {
        cuda::check(cuda::api().event_record(event_, stream), "record a CUDA event");
    }
    [[nodiscard]] bool reached() const {
        CUresult const result = cuda::api().event_query(event_);
        if (result == cuda::error_not_ready)
            return false;
        cuda::check(result, "multiply matrices");
        return true;
    }

private:
    CUevent event_ = nullptr;
};

/// Several products of large matrices, one after the other.
class product_loop {
public:
    product_loop() {
        run([] {}); // first executions are slow
        constexpr double long_enough_ms = 20;
        double const one_ms = std::max(run([] {}), 0.1);
        products_ = static_cast<unsigned>(std::clamp(long_enough_ms / one_ms, 1.0, 64.0));
    }

    /// Repeats work() while the products run, at least once. @return milliseconds of all products
    template <class Work>
    double run(Work&& work) {
        begin_.record(stream_.get());
        for (unsigned i = 0; i < products_; ++i)
            product_.submit(stream_.get());
        end_.record(stream_.get());
        do
            work();
        while (!end_.reached());
        float milliseconds = 0;
        cuda::check(cuda::api().event_elapsed_time(&milliseconds, begin_.get(), end_.get()),
                    "time a matrix product");
        return static_cast<double>(milliseconds);
    }
    [[nodiscard]] unsigned products() const { return products_; }

private:
    large_product product_;
    cuda_stream stream_;
    cuda_event begin_, end_;
    unsigned products_ = 1;
};

struct beside {
    std::unique_ptr<batch_method> method;
    std::vector<copy_piece> pieces{};
    batch_faults faults{};
    samples product_ns{}, alone_ns{}; ///< time of a product beside the batches, and alone
    std::size_t batches = 0;
    double seconds = 0;
};

void run_beside(product_loop& products, beside& each) {
    // Measured just before, since a GPU's clocks depend on its recent work.
    double const alone = products.run([] {});
    each.alone_ns.add(alone * 1e6 / products.products());
    clock::time_point const begin = clock::now();
    std::size_t batches = 0;
    double const milliseconds = products.run([&] {
        each.method->submit();
        each.method->wait();
        ++batches;
    });
    each.product_ns.add(milliseconds * 1e6 / products.products());
    each.seconds += seconds_since(begin);
    each.batches += batches;
}

} // namespace

bool measure_beside_gemm(batch_bench const& bench) {
    constexpr std::size_t rounds_by_default = 7;
    std::size_t const rounds =
        bench.values.iterations > 0 ? bench.values.iterations : rounds_by_default;
    std::vector<batch_shape> const shapes = shapes_of(bench.values, {1024}, {4 * KiB, 64 * KiB});
    product_loop products;
    batch_pools pools = bench.pools(bench.values.pool);
    std::vector<beside> all;
    all.push_back({make_one_copy()});
    constexpr std::size_t first_of_batches = 1;
    for (named_method& each : bench.methods())
        all.push_back({std::move(each.method)});
    progress bar(shapes.size() * bench.values.directions.size());
    table rows({"beside a product", "copies by", "product ms", "slower by", "copies GB/s"});
    bool good = true;
    for (copy_direction const way : bench.directions())
        for (batch_shape const& shape : shapes) {
            bar.step(formatted("beside {} {}", bench.name_of(way), shape.text()));
            for (std::size_t i = 0; i < all.size(); ++i) {
                auto const order =
                    i < first_of_batches ? batch_order::contiguous : batch_order::random;
                all[i] = {std::move(all[i].method)};
                all[i].faults =
                    verify_batch(*all[i].method, pools, way, order, shape, bench.values.seed);
                all[i].pieces = pools.pieces(
                    way, piece_picker(shape.size, pools.size(), order, bench.values.seed)
                             .pick(shape.pieces));
                all[i].method->prepare(all[i].pieces);
            }
            for (beside& each : all)
                for (std::size_t round = 0; round < rounds; ++round)
                    run_beside(products, each);
            for (beside const& each : all) {
                summary const times = each.product_ns.summarise();
                double const alone_ns = each.alone_ns.summarise().p50_ns;
                double const ratio = alone_ns > 0 ? times.p50_ns / alone_ns : 0;
                double const rate =
                    each.seconds > 0
                        ? static_cast<double>(each.batches * shape.bytes()) / each.seconds / 1e9
                        : 0;
                json row = object({{"measurement", "beside gemm"},
                                   {"direction", bench.name_of(way)},
                                   {"pieces", shape.pieces},
                                   {"size", shape.size},
                                   {"method", each.method->name()}});
                put(row, times);
                row["alone_ns"] = alone_ns;
                row["over_alone"] = ratio;
                row["gb_per_s"] = rate;
                put(row, each.faults);
                bench.out.add(std::move(row));
                rows.row({formatted("{} {}", bench.name_of(way), shape.text()), each.method->name(),
                          formatted("{:.3f}", times.p50_ns / 1e6), formatted("x {:.3f}", ratio),
                          each.faults.none() ? formatted("{:.2f}", rate) : "WRONG"});
                good &= each.faults.none();
            }
        }
    bench.out.say(rows.text() + "\n");
    return good;
}

} // namespace barmap::tool
