// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/buckets.hpp"
#include "gdrcopy/programs/mapped_range.hpp"
#include "gdrcopy/programs/programs.hpp"
#include "gdrcopy/programs/selected_gpu.hpp"
#include "gdrcopy/programs/short_options.hpp"

#include "measure/gpu_kernels.hpp"
#include "measure/pattern.hpp"
#include "output/timing.hpp"
#include "output/units.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace barmap::tool::gdrcopy {
namespace {

struct copylat_options : memory_options {
    std::uint64_t size = 16 * MiB;
    std::uint64_t writes = 10000, reads = 100;
    bool with_driver = false, cold = false;
};

using preparation = std::function<void(std::size_t bytes)>;

/// @param once   copies that many bytes
/// @param before what each copy is preceded by, and its own time subtracted; may be empty
template <class Copy>
summary measure(std::uint64_t iterations, std::size_t bytes, Copy const& once,
                preparation const& before) {
    return in_buckets(iterations, [&](unsigned times) {
        auto const time = [&](auto const& work) {
            return time_of(times, [&] {
                for (unsigned i = 0; i < times; ++i)
                    work();
            });
        };
        if (!before)
            return time([&] { once(bytes); });
        double const both = time([&] {
            before(bytes);
            once(bytes);
        });
        return std::max(both - time([&] { before(bytes); }), 0.0);
    });
}

/// One table: a row for each power of two up to the size.
template <class Copy>
void say_latencies(char const* name, char const* tabs, std::uint64_t iterations, std::size_t size,
                   Copy const& once, preparation const& before = {}) {
    say("\n{} num iters for each size: {}\n", name, iterations);
    say("Test {} Size(B) \t Median Time(us) \t Min. Time(us)\n", tabs);
    for (std::size_t bytes = 1; bytes <= size; bytes *= 2) {
        summary const times = measure(iterations, bytes, once, before);
        say("{} \t {:8} \t {:11.4f} \t {:11.4f}\n", name, bytes, times.p50_ns / 1000,
            times.min_ns / 1000);
    }
}

int run(copylat_options values) {
    constexpr std::uint64_t seed = 1;
    std::size_t const size = round_up(values.size, GPU_PAGE_SIZE);
    values.writes = whole_buckets(values.writes, "-w");
    values.reads = whole_buckets(values.reads, "-r");

    selected_gpu const gpu = say_and_select_gpu(values.device);
    gpu_buffer const buffer(gpu, values.allocation, size);
    say("device ptr: {:#x}\nallocated size: {}\ngpu alloc fn: {}\n", buffer.address(), size,
        values.allocation);
    pinned_host const source(size), target(size);
    fill_pattern({source.data(), size}, seed, 0);

    if (values.with_driver) {
        cuda::driver_api const& cu = cuda::api();
        say_latencies("cuMemcpy_H2D", "\t\t", values.writes, size, [&](std::size_t bytes) {
            cuda::check(cu.memcpy_htod(buffer.address(), source.data(), bytes), "copy to the GPU");
        });
        say_latencies("cuMemcpy_D2H", "\t\t", values.reads, size, [&](std::size_t bytes) {
            cuda::check(cu.memcpy_dtoh(target.data(), buffer.address(), bytes),
                        "copy from the GPU");
        });
        say("\n");
    }

    session through;
    mapped_range range(through, buffer.address(), size);
    range.map(map_flags(values.mapping_type));
    say("\n");
    say_mapping(range, buffer.address(), "user-space pointer: ");
    say("use cold cache: {}\n", values.cold ? "yes" : "no");
    preparation before;
    if (values.cold) {
        if (range.info().mapping_type != GDR_MAPPING_TYPE_CACHING)
            throw std::runtime_error("-C: this mapping goes through no CPU cache (-M cache asks "
                                     "for one, which coherent platforms have)");
        // The GPU writes the lines, and so takes them out of the CPU's cache.
        before = [&](std::size_t bytes) { fill_gpu(buffer.address(), 0, bytes); };
    }
    say("\nWARNING: writes are timed on the CPU: their arrival at the GPU is not included.");
    say_latencies(
        "gdr_copy_to_mapping", "\t\t\t", values.writes, size,
        [&](std::size_t bytes) { range.write(0, source.data(), bytes); }, before);
    say_latencies(
        "gdr_copy_from_mapping", "\t\t\t", values.reads, size,
        [&](std::size_t bytes) { range.read(target.data(), 0, bytes); }, before);
    auto const wrong = values.cold
                           ? std::nullopt
                           : first_difference({target.data(), std::bit_floor(size)}, seed, 0);
    if (wrong)
        say("check error: byte {} is not what was written\n", *wrong);

    say_end(range, through);
    return wrong ? 1 : 0;
}

} // namespace

int run_copylat(int argc, char** argv) {
    copylat_options values;
    short_options options("Latency of gdr_copy_to_mapping and gdr_copy_from_mapping by size");
    options.flag('c', values.with_driver, "measure the driver's cuMemcpy as well");
    options.number('s', values.size, "largest size, bytes", 1);
    options.device(values.device);
    options.number('w', values.writes, "how many writes of each size", 1);
    options.number('r', values.reads, "how many reads of each size", 1);
    options.allocation(values.allocation);
    options.mapping_type(values.mapping_type);
    options.flag('C', values.cold,
                 "let the GPU write the memory before each copy, where the mapping is cached");
    options.footer("Times are those of a hundred buckets of copies: their median and the least.");
    return options.run(argc, argv, [&] { return run(values); });
}

} // namespace barmap::tool::gdrcopy
