// SPDX-License-Identifier: MIT
#include "batch/batch.hpp"

#include "measure/cuda_stream.hpp"
#include "output/formatted.hpp"
#include "output/units.hpp"

#include <array>

namespace barmap::tool {
namespace {

/// No batch between the kernels: the time that a kernel waits for the one before it.
class by_nothing final : public ordered_method {
public:
    by_nothing() : ordered_method("nothing") {}
    void prepare(std::span<copy_piece const>) override {}
    void submit() override {}
    void submit_on(CUstream) override {}
    void wait() override {}
};

/// A kernel that records its end, a batch, and a kernel that records its start, on one stream.
class stamped_stream {
public:
    explicit stamped_stream(gpu_kernels const& kernels)
        : spin_(kernels.named("barmap_spin")), times_(gpu_memory::device(sizeof(stamps))) {}

    /// @return nanoseconds between end and start. @throws error
    double time(ordered_method& method) {
        // Meanwhile the CPU submits the batch and the second kernel, with any method.
        constexpr std::uint64_t long_enough_ns = 500'000;
        spin(times_.address(), long_enough_ns);
        method.submit_on(stream_.get());
        spin(times_.address() + sizeof(std::uint64_t), 0);
        stream_.wait();
        stamps found{};
        read_gpu(std::as_writable_bytes(std::span(found)), times_.address());
        auto const [end, begin] = found;
        return begin > end ? static_cast<double>(begin - end) : 0;
    }

    /// Copies, and waits for the stream only.
    void copy(ordered_method& method, std::span<copy_piece const> pieces) {
        method.prepare(pieces);
        method.submit_on(stream_.get());
        stream_.wait();
    }

private:
    void spin(CUdeviceptr time, std::uint64_t ns) {
        launch(spin_, 1, 1, stream_.get(), {time, ns});
    }

    using stamps = std::array<std::uint64_t, 2>;
    CUfunction spin_;
    gpu_memory times_; ///< on the GPU: a kernel's end waits for its stores to host memory
    cuda_stream stream_;
};

} // namespace

bool measure_order(batch_bench const& bench) {
    std::size_t const rounds = bench.rounds(200);
    std::vector<batch_shape> const shapes = shapes_of(bench.values, {64}, {4 * KiB});
    std::vector<std::unique_ptr<ordered_method>> methods;
    methods.push_back(make_engine(bench.gpu));
    std::vector<left_out> missing;
    if (auto call = make_batch_call(missing))
        methods.push_back(std::move(call));
    bench.tell(missing);
    methods.push_back(std::make_unique<by_nothing>());
    batch_pools pools = bench.pools(bench.values.pool);
    stamped_stream stream(bench.kernels);
    measurement const what("ordered", {"kernel to kernel", column("between", "method"), us("min"),
                                       us("p50"), us("p99")});
    auto const measure_shape = [&](results& into, copy_direction way, batch_shape const& shape) {
        std::string const name = formatted("{} {}", bench.name_of(way), shape.text());
        into.now("ordered " + name);
        std::vector<samples> times(methods.size());
        std::vector<batch_faults> faults(methods.size());
        for (std::size_t i = 0; i + 1 < methods.size(); ++i)
            faults[i] = verify_batch(
                pools, way, batch_order::random, shape, bench.values.seed,
                [&](std::span<copy_piece const> pieces) { stream.copy(*methods[i], pieces); });
        piece_picker picker(shape.size, pools.size(), batch_order::random, bench.values.seed);
        for (std::size_t round = 0; round < rounds; ++round)
            for (std::size_t i = 0; i < methods.size(); ++i) {
                std::vector<copy_piece> const pieces = pools.pieces(way, picker.pick(shape.pieces));
                methods[i]->prepare(pieces);
                times[i].add(stream.time(*methods[i]));
            }
        for (std::size_t i = 0; i < methods.size(); ++i)
            into.add(
                bench.result_of(way, shape, *methods[i]).with(times[i].summarise()).with(faults[i]),
                {name}, faults[i].none());
    };
    return measure(bench.out, what, every(bench.directions(), shapes), measure_shape);
}

} // namespace barmap::tool
