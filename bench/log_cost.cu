// SPDX-License-Identifier: MIT
// The cost of a log's record to a kernel, beside atomics in host memory and in GPU memory. Also
// verifies that records arrive whole, while kernels write as fast as they can.
//
//     nvcc -std=c++20 -O2 -arch=sm_90 -o log_cost log_cost.cu $(pkg-config --cflags --libs barmap)
//
// Prints lines of CSV: what, threads, repetition, and nanoseconds for each operation of a thread; and for the
// check: records read, lost and wrong. The exit status is 1 if one was wrong.
#include <barmap/barmap.hpp>
#include <barmap/gpu/log.cuh>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using word = unsigned long long;

enum class what { atomic_in_host, add_in_host, atomic_in_gpu, store_in_host, log };
constexpr struct {
    what it;
    char const* name;
} each_of_them[] = {{what::atomic_in_host, "atomic, host memory"},
                    {what::add_in_host, "atomic without a result, host memory"},
                    {what::atomic_in_gpu, "atomic, GPU memory"},
                    {what::store_in_host, "store of 8 B, host memory"},
                    {what::log, "log"}};

/// @param result so that no atomic is made one without a result
template <what It>
__global__ void repeat(barmap::gpu::log_ring log, word* in_host, word* in_gpu, word* result,
                       unsigned count) {
    unsigned const thread = blockIdx.x * blockDim.x + threadIdx.x;
    word sum = 0;
    for (unsigned i = 0; i < count; ++i) {
        if constexpr (It == what::atomic_in_host)
            sum += atomicAdd_system(in_host, 1ull);
        else if constexpr (It == what::add_in_host)
            asm volatile("red.relaxed.sys.global.add.u64 [%0], %1;" : : "l"(in_host), "l"(1ull) : "memory");
        else if constexpr (It == what::atomic_in_gpu)
            sum += atomicAdd(in_gpu, 1ull);
        else if constexpr (It == what::store_in_host)
            barmap::gpu::store_relaxed(in_host + 8 + thread % 4096, i);
        else
            barmap::gpu::log(log, i, thread, i ^ thread, ~i);
    }
    if (sum == ~0ull)
        *result = sum;
}

void check(cudaError_t result) {
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
        std::exit(1);
    }
}

struct memory {
    word *in_host, *in_gpu, *result;
};

template <what It>
double nanoseconds(barmap::log_ring const& log, memory const& at, unsigned blocks, unsigned threads,
                   unsigned count) {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    check(cudaEventRecord(begin));
    repeat<It><<<blocks, threads>>>(log.handle(), at.in_host, at.in_gpu, at.result, count);
    check(cudaGetLastError());
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
    return milliseconds * 1e6 / count;
}

double measure(what it, barmap::log_ring const& log, memory const& at, unsigned blocks,
               unsigned threads, unsigned count) {
    switch (it) {
    case what::atomic_in_host:
        return nanoseconds<what::atomic_in_host>(log, at, blocks, threads, count);
    case what::add_in_host:
        return nanoseconds<what::add_in_host>(log, at, blocks, threads, count);
    case what::atomic_in_gpu:
        return nanoseconds<what::atomic_in_gpu>(log, at, blocks, threads, count);
    case what::store_in_host:
        return nanoseconds<what::store_in_host>(log, at, blocks, threads, count);
    case what::log:
        break;
    }
    return nanoseconds<what::log>(log, at, blocks, threads, count);
}

/// Reads while kernels write. @return how many records were wrong
word verify(barmap::device const& gpu, memory const& at, std::size_t slots, unsigned blocks,
            unsigned threads, unsigned count) {
    barmap::log_ring log(gpu, slots);
    repeat<what::log><<<blocks, threads>>>(log.handle(), at.in_host, at.in_gpu, at.result, count);
    check(cudaGetLastError());
    word const all = word{blocks} * threads * count;
    std::vector<unsigned> next(blocks * threads);
    std::array<barmap::log_record, 256> records;
    word read = 0, wrong = 0, number = 0;
    while (log.wait_for(std::chrono::seconds(1))) {
        std::size_t const found = log.read(records);
        for (barmap::log_record const& each : std::span(records).first(found)) {
            bool const is_whole = each.a < next.size() && each.b == (each.id ^ each.a) &&
                each.c == ~each.id && each.time != 0 && each.number >= number;
            if (!is_whole || each.id < next[each.a]) {
                ++wrong;
                continue;
            }
            next[each.a] = each.id + 1;
            number = each.number + 1;
        }
        read += found;
    }
    check(cudaDeviceSynchronize());
    word const told_of = read + log.lost();
    wrong += told_of > all;
    // Except for the last ones, if some that came late have taken their places.
    wrong += slots > word{blocks} * threads && told_of + slots < all;
    wrong += slots >= all && told_of != all;
    std::printf("check,%zu slots,%u threads,read %llu,lost %llu,wrong %llu\n", slots,
                blocks * threads, read, static_cast<word>(log.lost()), wrong);
    std::fflush(stdout);
    return wrong;
}

} // namespace

int main() try {
    check(cudaFree(nullptr));
    barmap::device const gpu = barmap::device::open(0);
    barmap::log_ring const log(gpu, 1 << 16);
    memory at{};
    check(cudaHostAlloc(&at.in_host, 1 << 16, cudaHostAllocDefault));
    check(cudaMalloc(&at.in_gpu, 64));
    check(cudaMalloc(&at.result, 64));
    std::memset(at.in_host, 0, 1 << 16);
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0));
    int native = 0;
    check(cudaDeviceGetAttribute(&native, cudaDevAttrHostNativeAtomicSupported, 0));
    std::printf("# %s, native atomics in host memory: %d\nwhat,threads,repetition,ns\n",
                properties.name, native);
    unsigned const many = static_cast<unsigned>(properties.multiProcessorCount);
    struct {
        unsigned blocks, threads, count;
    } const sizes[] = {{1, 1, 20'000}, {1, 32, 20'000}, {many, 32, 500}, {many, 256, 100}};
    for (auto const& size : sizes)
        for (auto const& each : each_of_them) {
            (void)measure(each.it, log, at, size.blocks, size.threads, size.count); // warm
            for (int repetition = 0; repetition < 7; ++repetition) {
                double const ns =
                    measure(each.it, log, at, size.blocks, size.threads, size.count);
                std::printf("\"%s\",%u,%d,%.1f\n", each.name, size.blocks * size.threads, repetition,
                            ns);
            }
        }
    word wrong = 0;
    for (std::size_t const slots : {std::size_t{4}, std::size_t{256}, std::size_t{1} << 12,
                                    std::size_t{1} << 20}) {
        wrong += verify(gpu, at, slots, 1, 1, 1'000'000);
        wrong += verify(gpu, at, slots, 1, 32, 100'000);
        wrong += verify(gpu, at, slots, many, 256, 1000);
    }
    return wrong == 0 ? 0 : 1;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
