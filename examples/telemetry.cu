// SPDX-License-Identifier: MIT
// Follows a kernel that knows nothing of it: reads a counter in GPU memory while the kernel works.
//
//     nvcc -std=c++20 -o telemetry telemetry.cu $(pkg-config --cflags --libs barmap)
#include <barmap/barmap.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

struct counters {
    unsigned long long done;      // blocks that have ended
    unsigned long long subnormal; // values that were too small
};

/// Works for some microseconds a block, and counts in GPU memory alone.
__global__ void work(float* values, counters* count) {
    unsigned const index = blockIdx.x * blockDim.x + threadIdx.x;
    float value = static_cast<float>(index % 1000) + 0.5f;
    for (int i = 0; i < 2000; ++i)
        value = value * 0.999f + 1e-6f;
    values[index] = value;
    if (value < 0.1f)
        atomicAdd(&count->subnormal, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&count->done, 1);
}

void check(cudaError_t result) {
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
        std::exit(1);
    }
}

} // namespace

int main() try {
    constexpr unsigned blocks = 2'000'000, threads = 256;
    float* values = nullptr;
    counters* count = nullptr;
    check(cudaMalloc(&values, sizeof(float) * blocks * threads));
    check(cudaMalloc(&count, sizeof *count));
    check(cudaMemset(count, 0, sizeof *count));
    check(cudaDeviceSynchronize());

    barmap::device const gpu = barmap::device::from_pointer(count);
    barmap::mapping const map = gpu.pin(count, sizeof *count).map();

    work<<<blocks, threads>>>(values, count);
    check(cudaGetLastError());
    // Each look is one trip over the link, about 1 us, for both values: so many a second, not all
    // the time.
    counters now = {};
    int looks = 0;
    do {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        auto const before = now;
        now = barmap::read_value<counters>(map.window()); // never older than the look before
        if (now.done < before.done) {
            std::fprintf(stderr, "it went back\n");
            return 1;
        }
        std::printf("%5.1f %% done, %llu values too small\n", 100.0 * now.done / blocks,
                    now.subnormal);
        ++looks;
    } while (now.done < blocks && cudaStreamQuery(nullptr) == cudaErrorNotReady);
    check(cudaDeviceSynchronize());
    now = barmap::read_value<counters>(map.window());
    std::printf("%d looks; %llu of %u blocks\n", looks, now.done, blocks);
    check(cudaFree(count));
    check(cudaFree(values));
    return now.done == blocks ? 0 : 1;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
