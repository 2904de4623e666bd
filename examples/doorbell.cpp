// SPDX-License-Identifier: MIT
// Wakes a kernel that spins on a word in GPU memory, and takes its answer from a word in host
// memory.
//
//     BARMAP_SIM=1 ./doorbell         # without a GPU: a thread acts as the kernel
//     nvcc -x cu -std=c++20 -o doorbell doorbell.cpp $(pkg-config --cflags --libs barmap)
#include <barmap/barmap.hpp>
#include <barmap/gpu/words.cuh>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using barmap::gpu::word;

constexpr word patience = 20'000'000'000; // 20 s: nothing on the GPU waits forever

/// Squares the number beside the doorbell, each time that it rings.
BARMAP_DEVICE void answer_calls(word const* doorbell, word* answer, word calls) {
    word const end = barmap::gpu::nanoseconds_now() + patience;
    for (word call = 1; call <= calls; ++call) {
        for (word looks = 1; barmap::gpu::load_acquire(doorbell) != call; ++looks)
            if (looks % 64 == 0 && barmap::gpu::nanoseconds_now() > end)
                return;
        word const argument = barmap::gpu::load_relaxed(doorbell + 8);
        barmap::gpu::store_relaxed(answer, argument * argument + call); // nothing to order
    }
}

#ifdef __CUDACC__
__global__ void kernel(word const* doorbell, word* answer, word calls) {
    answer_calls(doorbell, answer, calls);
}
#endif

} // namespace

int main() try {
    auto const gpu = barmap::device::open(0);
    auto const memory = gpu.allocate(128); // the doorbell, and in its next line the argument
    auto const host = gpu.allocate_host(sizeof(word)); // the answer
    auto const map = memory.map();
    barmap::fill(map.window(), std::byte{0});
    auto const ring = map.window(0, sizeof(word)), argument = map.window(64, sizeof(word));
    auto* const answer = reinterpret_cast<word*>(host.data());
    *answer = 0;
    word const calls = gpu.simulated() ? 100 : 10'000;

#ifdef __CUDACC__
    kernel<<<1, 1>>>(reinterpret_cast<word*>(memory.gpu_address()),
                     reinterpret_cast<word*>(host.gpu_address()), calls);
    if (cudaGetLastError() != cudaSuccess)
        return 1;
#else
    if (!gpu.simulated()) {
        std::fprintf(stderr, "the kernel needs nvcc: see the first lines of doorbell.cpp\n");
        return 1;
    }
    std::jthread const kernel(answer_calls, reinterpret_cast<word*>(map.data()), answer, calls);
#endif
    using clock = std::chrono::steady_clock;
    std::vector<double> took;
    for (word call = 1; call <= calls; ++call) {
        auto const start = clock::now();
        barmap::write_value(argument, call); // is there before the doorbell
        barmap::post(ring, call);
        barmap::flush_stores(); // at once
        while (barmap::gpu::load_acquire(answer) != call * call + call) {
            if (clock::now() > start + std::chrono::seconds(10)) {
                std::fprintf(stderr, "no answer to call %llu\n", call);
                return 1;
            }
        }
        took.push_back(std::chrono::duration<double, std::micro>(clock::now() - start).count());
    }
#ifdef __CUDACC__
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
#endif
    std::ranges::sort(took);
    std::printf("%llu calls, all answers right; median %.2f us, 99 %% below %.2f us\n", calls,
                took[took.size() / 2], took[took.size() * 99 / 100]);
    return 0;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
