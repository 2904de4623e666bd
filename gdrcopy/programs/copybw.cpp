// SPDX-License-Identifier: MIT
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
#include <span>
#include <vector>

namespace barmap::tool::gdrcopy {
namespace {

struct copybw_options : memory_options {
    std::uint64_t size = 128 * KiB;
    std::uint64_t copy_size = 0; ///< 0: all of it
    std::uint64_t offset = 0;
    std::uint64_t writes = 10000, reads = 100;
    bool every_size = false;
};

std::vector<std::size_t> sizes_of(copybw_options const& values) {
    if (!values.every_size)
        return {values.copy_size ? values.copy_size : values.size};
    std::size_t const largest =
        values.copy_size ? std::min(values.copy_size, values.size) : values.size;
    std::vector<std::size_t> sizes;
    for (std::size_t size = 1; size <= std::bit_floor(largest); size *= 2)
        sizes.push_back(size);
    return sizes;
}

/// Times that many copies, and prints their bandwidth.
template <class Copy>
void say_bandwidth(char const* name, char const* doing, std::size_t bytes, std::uint64_t offset,
                   std::uint64_t times, Copy const& copy) {
    say("{} test, size={} offset={} num_iters={}\n", doing, bytes, offset, times);
    clock::time_point const begin = clock::now();
    for (std::uint64_t i = 0; i < times; ++i)
        copy();
    say("{} BW: {:g}MB/s\n", name,
        double(bytes) * double(times) / double(MiB) / seconds_since(begin));
}

/// True if the GPU's memory is what was written.
bool measure(mapped_range const& range, std::span<std::byte> host, std::size_t bytes,
             copybw_options const& values) {
    constexpr std::uint64_t seed = 1;
    fill_pattern(host.first(bytes), seed, 0);
    say_bandwidth("write", "writing", bytes, values.offset, values.writes,
                  [&] { range.write(values.offset, host.data(), bytes); });
    std::fill_n(host.begin(), bytes, std::byte{0});
    say_bandwidth("read", "reading", bytes, values.offset, values.reads,
                  [&] { range.read(host.data(), values.offset, bytes); });
    auto const wrong = first_difference(host.first(bytes), seed, 0);
    if (wrong)
        say("check error: byte {} is not what was written\n", *wrong);
    return !wrong;
}

int run(copybw_options const& values) {
    std::vector<std::size_t> const sizes = sizes_of(values);
    if (values.offset % sizeof(std::uint32_t) != 0)
        throw std::runtime_error("-o: the offset must be a multiple of 4 bytes");
    if (values.offset > values.size || sizes.back() > values.size - values.offset)
        throw std::runtime_error("-o, -c: offset and copy size go beyond the buffer's end, see -s");

    selected_gpu const gpu = say_and_select_gpu(values.device);
    std::size_t const rounded = round_up(values.size, GPU_PAGE_SIZE);
    say("testing size: {}\nrounded size: {}\ngpu alloc fn: {}\n", values.size, rounded,
        values.allocation);
    gpu_buffer const buffer(gpu, values.allocation, rounded);
    say("device ptr: {:x}\n", buffer.address());
    pinned_host const host(rounded);

    session through;
    mapped_range range(through, buffer.address(), rounded);
    range.map(map_flags(values.mapping_type));
    say_mapping(range, buffer.address(), "user-space pointer:");
    bool right = true;
    for (std::size_t const bytes : sizes)
        right &= measure(range, std::span(host.data(), rounded), bytes, values);

    say_end(range, through);
    return right ? 0 : 1;
}

} // namespace

int run_copybw(int argc, char** argv) {
    copybw_options values;
    short_options options("Bandwidth of gdr_copy_to_mapping and gdr_copy_from_mapping");
    options.number('s', values.size, "size of the buffer, bytes", 1);
    options.number('c', values.copy_size, "bytes to copy, with -l at most; 0: the whole buffer");
    options.number('o', values.offset, "where in the buffer the copies start, bytes");
    options.flag('l', values.every_size, "measure every power of two from 1 up to the copy size");
    options.device(values.device);
    options.number('w', values.writes, "how many writes", 1);
    options.number('r', values.reads, "how many reads", 1);
    options.allocation(values.allocation);
    options.mapping_type(values.mapping_type);
    options.footer(
        "MB/s are 2^20 bytes per second. The program reads back what it wrote, and compares it.");
    return options.run(argc, argv, [&] { return run(values); });
}

} // namespace barmap::tool::gdrcopy
