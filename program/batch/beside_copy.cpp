// SPDX-License-Identifier: MIT
#include "batch/batch_lane.hpp"

#include "measure/cuda_stream.hpp"
#include "measure/gpu_kernels.hpp"
#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "output/table.hpp"
#include "output/units.hpp"

#include <array>
#include <utility>

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
    constexpr std::size_t copies_by_default = 500;
    std::size_t const count =
        bench.values.iterations > 0 ? bench.values.iterations : copies_by_default;
    std::vector<batch_shape> const shapes = shapes_of(bench.values, {1024}, {8 * KiB, 64 * KiB});
    std::array<load, 4> const loads{load{"nothing", {}}, load{"d2h", {copy_direction::to_cpu}},
                                    load{"h2d", {copy_direction::to_gpu}},
                                    load{"both", {copy_direction::to_cpu, copy_direction::to_gpu}}};
    batch_pools pools = bench.pools(bench.values.pool);
    small_copies copies(bench.gpu);
    std::vector<named_method> const methods = bench.methods();
    progress bar(shapes.size() * methods.size() * loads.size());
    table rows({"a copy of 4 KiB beside", "by", "to CPU us", "p99 us", "to GPU us", "p99 us",
                "batches GB/s"});
    bool good = true;
    for (batch_shape const& shape : shapes)
        for (named_method const& method : methods)
            for (load const& beside : loads) {
                bar.step(formatted("beside {} {}", beside.name, shape.text()));
                std::vector<std::unique_ptr<batch_lane>> lanes;
                for (copy_direction const way : beside.ways) {
                    lanes.push_back(std::make_unique<batch_lane>(bench, pools, method.name, way,
                                                                 batch_order::random, shape));
                    pools.clear(way, pools.size());
                }
                std::array<samples, 2> found;
                run_lanes(lanes, [&] { found = copies.measure(count); });
                double rate = 0;
                batch_faults faults;
                for (auto const& each : lanes) {
                    rate += each->gigabytes_per_second();
                    faults += pools.compare(each->way(), each->places(), pools.size());
                }
                summary const to_cpu = found[0].summarise(), to_gpu = found[1].summarise();
                json row = object({{"measurement", "beside copy"},
                                   {"batches", beside.name},
                                   {"pieces", shape.pieces},
                                   {"size", shape.size},
                                   {"method", method.method->name()}});
                for (auto const& [name, its] :
                     {std::pair{"to_cpu", to_cpu}, std::pair{"to_gpu", to_gpu}}) {
                    row[formatted("{}_p50_ns", name)] = its.p50_ns;
                    row[formatted("{}_p99_ns", name)] = its.p99_ns;
                }
                row["gb_per_s"] = rate;
                put(row, faults);
                bench.out.add(std::move(row));
                rows.row({formatted("{} {}", beside.name, shape.text()), method.method->name(),
                          formatted("{:.1f}", to_cpu.p50_ns / 1e3),
                          formatted("{:.1f}", to_cpu.p99_ns / 1e3),
                          formatted("{:.1f}", to_gpu.p50_ns / 1e3),
                          formatted("{:.1f}", to_gpu.p99_ns / 1e3),
                          faults.none() ? formatted("{:.2f}", rate) : "WRONG"});
                good &= faults.none();
            }
    bench.out.say(rows.text() + "\n");
    return good;
}

} // namespace barmap::tool
