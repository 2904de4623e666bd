// SPDX-License-Identifier: MIT
// Wakes a kernel that spins on a word in GPU memory, and takes its answer from a word in host
// memory.
//
//     nvcc -std=c++20 -o doorbell doorbell.cu $(pkg-config --cflags --libs barmap)
#include <barmap/barmap.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using word = unsigned long long;

constexpr int calls = 10'000;
constexpr long long patience = 20'000'000; // looks: nothing on the GPU waits for ever

/// Squares what lies beside the doorbell, each time that it rings.
__global__ void serve(word volatile* doorbell, word volatile* answer) {
    for (word call = 1; call <= calls; ++call) {
        long long looks = 0;
        while (*doorbell != call)
            if (++looks == patience)
                return;
        __threadfence(); // the argument is read after the doorbell
        word const argument = doorbell[8];
        *answer = argument * argument + call;
    }
}

void check(cudaError_t result) {
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
        std::exit(1);
    }
}

} // namespace

int main() try {
    word* doorbell = nullptr; // in GPU memory, and in its next line the argument
    word* answer = nullptr;   // in host memory
    check(cudaMalloc(&doorbell, 128));
    check(cudaMemset(doorbell, 0, 128));
    check(cudaDeviceSynchronize());
    check(cudaMallocHost(&answer, sizeof *answer));
    *answer = 0;
    word volatile* const seen = answer;

    barmap::device const gpu = barmap::device::from_pointer(doorbell);
    barmap::mapping const map = gpu.pin(doorbell, 128).map();
    barmap::window const ring = map.window(0, sizeof(word));
    barmap::window const argument = map.window(64, sizeof(word));

    serve<<<1, 1>>>(doorbell, answer);
    check(cudaGetLastError());
    using clock = std::chrono::steady_clock;
    auto const end = clock::now() + std::chrono::seconds(10);
    std::vector<double> took;
    for (word call = 1; call <= calls; ++call) {
        auto const start = clock::now();
        barmap::write_value(argument, call); // is there before the doorbell
        barmap::post(ring, call);
        barmap::flush_stores(); // at once
        word const expected = call * call + call;
        while (*seen != expected) {
            if (clock::now() > end) {
                std::fprintf(stderr, "no answer to call %llu\n", call);
                return 1;
            }
        }
        took.push_back(std::chrono::duration<double, std::micro>(clock::now() - start).count());
    }
    check(cudaDeviceSynchronize());
    std::ranges::sort(took);
    std::printf("%d calls, all answers right; median %.2f us, 99 %% below %.2f us\n", calls,
                took[took.size() / 2], took[took.size() * 99 / 100]);
    check(cudaFreeHost(answer));
    check(cudaFree(doorbell));
    return 0;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
