// SPDX-License-Identifier: MIT
#include "batch/batch.hpp"

#include "batch/cublas.hpp"
#include "measure/cuda_stream.hpp"
#include "output/formatted.hpp"
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
    std::size_t const rounds = bench.rounds(7);
    std::vector<batch_shape> const shapes = shapes_of(bench.values, {1024}, {4 * KiB, 64 * KiB});
    product_loop products;
    batch_pools pools = bench.pools(bench.values.pool);
    std::vector<beside> all;
    all.push_back({make_one_copy()});
    constexpr std::size_t first_of_batches = 1;
    for (named_method& each : bench.methods())
        all.push_back({std::move(each.method)});
    measurement const what("beside gemm", {"beside a product", column("copies by", "method"),
                                           column("product ms", "p50_ns", fixed<3, 1'000'000>),
                                           "slower by", "copies GB/s"});
    auto const measure_shape = [&](results& into, copy_direction way, batch_shape const& shape) {
        std::string const name = formatted("{} {}", bench.name_of(way), shape.text());
        into.now("beside " + name);
        for (std::size_t i = 0; i < all.size(); ++i) {
            auto const order = i < first_of_batches ? batch_order::contiguous : batch_order::random;
            all[i] = {std::move(all[i].method)};
            all[i].faults =
                verify_batch(*all[i].method, pools, way, order, shape, bench.values.seed);
            all[i].pieces =
                pools.pieces(way, piece_picker(shape.size, pools.size(), order, bench.values.seed)
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
                gigabytes_per_second(each.batches * shape.bytes(), each.seconds * 1e9);
            into.add(bench.result_of(way, shape, *each.method)
                         .with(times)
                         .has("alone_ns", alone_ns)
                         .has("over_alone", ratio)
                         .has("gb_per_s", rate)
                         .with(each.faults),
                     {name, formatted("x {:.3f}", ratio), rate_or_wrong(rate, each.faults)},
                     each.faults.none());
        }
    };
    return measure(bench.out, what, every(bench.directions(), shapes), measure_shape);
}

} // namespace barmap::tool
