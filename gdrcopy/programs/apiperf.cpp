// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/mapped_range.hpp"
#include "gdrcopy/programs/programs.hpp"
#include "gdrcopy/programs/selected_gpu.hpp"
#include "gdrcopy/programs/short_options.hpp"

#include "output/timing.hpp"
#include "output/units.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace barmap::tool::gdrcopy {
namespace {

struct apiperf_options : memory_options {
    std::uint64_t size = 16 * MiB;
    std::uint64_t iterations = 100, warm_up = 10;
};

enum call { pin, map, get_info, unmap, unpin, calls };

/// Times of every call, microseconds.
using times = std::array<std::vector<double>, calls>;

void cycle(session const& through, gpu_buffer const& buffer, std::size_t bytes, int flags,
           times& into) {
    gdrapi_library const& gdr = gdrapi();
    gdr_mh_t handle{};
    void* start = nullptr;
    gdr_info_t info{};
    auto const time = [&](call which, char const* name, auto&& work) {
        clock::time_point const begin = clock::now();
        int const result = work();
        into[which].push_back((nanoseconds_since(begin) - clock_cost_ns()) / 1000);
        check_call(result, name);
    };
    gdr_t const g = through.get();
    time(pin, "gdr_pin_buffer",
         [&] { return gdr.pin_buffer(g, buffer.address(), bytes, 0, 0, &handle); });
    time(map, "gdr_map_v2", [&] { return gdr.map_v2(g, handle, &start, bytes, flags); });
    time(get_info, "gdr_get_info", [&] { return gdr.get_info_v2(g, handle, &info); });
    time(unmap, "gdr_unmap", [&] { return gdr.unmap(g, handle, start, bytes); });
    time(unpin, "gdr_unpin_buffer", [&] { return gdr.unpin_buffer(g, handle); });
}

double mean(std::vector<double> const& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

void say_histogram(std::vector<double> const& values) {
    constexpr std::size_t bins = 10;
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    double const width = (*most - *least) / double(bins);
    std::array<std::size_t, bins> counts{};
    for (double const value : values) {
        auto const bin = width > 0 ? std::size_t((value - *least) / width) : 0;
        ++counts[std::min(bin, bins - 1)];
    }
    for (std::size_t i = 0; i < bins; ++i)
        say("[{:f}\t-\t{:f}]\t{}\n", *least + double(i) * width, *least + double(i + 1) * width,
            counts[i]);
}

int run(apiperf_options const& values) {
    std::size_t const size = round_up(values.size, GPU_PAGE_SIZE);
    selected_gpu const gpu = say_and_select_gpu(values.device);
    gpu_buffer const buffer(gpu, values.allocation, size);
    say("device ptr: {:#x}\nallocated size: {}\n", buffer.address(), size);
    int const flags = map_flags(values.mapping_type);

    session through;
    for (std::size_t bytes = GPU_PAGE_SIZE; bytes <= size; bytes *= 2) {
        times ignored, found;
        for (std::uint64_t i = 0; i < values.warm_up; ++i)
            cycle(through, buffer, bytes, flags, ignored);
        for (std::uint64_t i = 0; i < values.iterations; ++i)
            cycle(through, buffer, bytes, flags, found);
        say("Size(B)\tpin.Time(us)\tmap.Time(us)\tget_info.Time(us)\tunmap.Time(us)\t"
            "unpin.Time(us)\n");
        say("{}\t{:f}\t{:f}\t{:f}\t{:f}\t{:f}\n", bytes, mean(found[pin]), mean(found[map]),
            mean(found[get_info]), mean(found[unmap]), mean(found[unpin]));
        say("Histogram of gdr_pin_buffer latency for {} bytes\n", bytes);
        say_histogram(found[pin]);
        say("\n");
    }
    say("closing gdrdrv\n");
    through.close();
    return 0;
}

} // namespace

int run_apiperf(int argc, char** argv) {
    apiperf_options values;
    short_options options("Times of pinning, mapping, unmapping and unpinning, by size");
    options.number('s', values.size, "largest size, bytes", 1);
    options.device(values.device);
    options.number('n', values.iterations, "how often each size is measured", 1);
    options.number('w', values.warm_up, "how often before that, to warm up");
    options.allocation(values.allocation);
    options.mapping_type(values.mapping_type);
    options.footer("Times are means; below each size is a histogram of those of gdr_pin_buffer.");
    return options.run(argc, argv, [&] { return run(values); });
}

} // namespace barmap::tool::gdrcopy
