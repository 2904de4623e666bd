// SPDX-License-Identifier: MIT
#include "batch/batch_lane.hpp"

#include "measure/cuda_stream.hpp"
#include "measure/gpu_kernels.hpp"
#include "output/formatted.hpp"
#include "output/units.hpp"

#include <array>
#include <functional>
#include <numeric>

namespace barmap::tool {
namespace {

constexpr std::size_t copied = 4 * KiB;

/// The work of a program beside its batches, such as a model with its tokens: a small
/// cudaMemcpyAsync and a wait for it.
class small_copies {
public:
    explicit small_copies(opened_gpu const& gpu) : gpu_(gpu), host_(copied) {}

    /// Copies to the CPU and to the GPU in turn, `count` times each. @throws error
    std::array<samples, 2> measure(std::size_t count) {
        cuda::context_scope const scope = gpu_.enter();
        std::array<samples, 2> result;
        auto const time = [&](samples& into, CUdeviceptr to, CUdeviceptr from) {
            clock::time_point const begin = clock::now();
            cuda::check(cuda::api().memcpy_async(to, from, copied, stream_.get()), "copy");
            stream_.wait();
            into.add(seconds_since(begin) * 1e9);
        };
        for (std::size_t i = 0; i < count; ++i) {
            time(result[0], host_.gpu_address(), memory_.address());
            time(result[1], memory_.address(), host_.gpu_address());
        }
        return result;
    }

private:
    opened_gpu const& gpu_;
    pinned_host host_;
    gpu_memory memory_ = gpu_memory::device(copied);
    cuda_stream stream_;
};

/// The directions of the batches, with a name for the report.
struct load {
    std::string name;
    std::vector<copy_direction> ways;
};

} // namespace

bool measure_beside_copy(batch_bench const& bench) {
    std::size_t const count = bench.rounds(500);
    std::vector<batch_shape> const shapes = shapes_of(bench.values, {1024}, {8 * KiB, 64 * KiB});
    std::array<load, 4> const loads{load{"nothing", {}}, load{"d2h", {copy_direction::to_cpu}},
                                    load{"h2d", {copy_direction::to_gpu}},
                                    load{"both", {copy_direction::to_cpu, copy_direction::to_gpu}}};
    batch_pools pools = bench.pools(bench.values.pool);
    small_copies copies(bench.gpu);
    std::vector<named_method> const made = bench.methods();
    std::vector<std::reference_wrapper<named_method const>> const methods(made.begin(), made.end());
    measurement const what("beside copy",
                           {"a copy of 4 KiB beside", column("by", "method"),
                            column("to CPU us", "to_cpu_p50_ns", fixed<1, 1000>),
                            column("p99 us", "to_cpu_p99_ns", fixed<1, 1000>),
                            column("to GPU us", "to_gpu_p50_ns", fixed<1, 1000>),
                            column("p99 us", "to_gpu_p99_ns", fixed<1, 1000>), "batches GB/s"});
    auto const measure_one = [&](results& into, batch_shape const& shape,
                                 named_method const& method, load const& beside) {
        std::string const name = formatted("{} {}", beside.name, shape.text());
        into.now("beside " + name);
        std::vector<std::unique_ptr<batch_lane>> lanes;
        for (copy_direction const way : beside.ways)
            lanes.push_back(std::make_unique<batch_lane>(bench, pools, method.name, way,
                                                         batch_order::random, shape));
        std::array<samples, 2> found;
        lanes_found const ran = run_lanes(lanes, pools, [&] { found = copies.measure(count); });
        double const rate = std::accumulate(ran.rates.begin(), ran.rates.end(), 0.0);
        summary const to_cpu = found[0].summarise(), to_gpu = found[1].summarise();
        into.add(result_row({{"batches", beside.name}})
                     .with(shape)
                     .has("method", method.method->name())
                     .has("to_cpu_p50_ns", to_cpu.p50_ns)
                     .has("to_cpu_p99_ns", to_cpu.p99_ns)
                     .has("to_gpu_p50_ns", to_gpu.p50_ns)
                     .has("to_gpu_p99_ns", to_gpu.p99_ns)
                     .has("gb_per_s", rate)
                     .with(ran.faults),
                 {name, rate_or_wrong(rate, ran.faults)}, ran.faults.none());
    };
    return measure(bench.out, what, every(shapes, methods, loads), measure_one);
}

} // namespace barmap::tool
