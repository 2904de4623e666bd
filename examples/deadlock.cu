// SPDX-License-Identifier: MIT
// A kernel whose blocks wait for each other, with a block that does not come: which one, and where do
// the others stand? Its log tells, while it hangs.
//
//     nvcc -std=c++20 -o deadlock deadlock.cu $(pkg-config --cflags --libs barmap)
#include <barmap/barmap.hpp>
#include <barmap/gpu/log.cuh>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace {

enum place : unsigned { begins, arrives, goes_on, leaves };
constexpr char const* names[] = {"begins step", "waits in step", "continues after step", "left in step"};

constexpr unsigned blocks = 8, steps = 100;

/// Each step ends when all blocks have arrived. One block has nothing to do in step 17, and forgets
/// that the others wait for it.
__global__ void work(barmap::gpu::log_ring log, unsigned volatile* arrived) {
    for (unsigned step = 0; step < steps; ++step) {
        barmap::gpu::log(log, begins, blockIdx.x, step);
        if (blockIdx.x == 5 && step == 17) {
            barmap::gpu::log(log, leaves, blockIdx.x, step);
            return;
        }
        unsigned const number = atomicAdd(const_cast<unsigned*>(arrived), 1) + 1;
        barmap::gpu::log(log, arrives, blockIdx.x, step, number);
        while (*arrived < (step + 1) * blocks) {
        }
        barmap::gpu::log(log, goes_on, blockIdx.x, step);
    }
}

void check(cudaError_t result) {
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
        std::exit(1);
    }
}

} // namespace

int main(int argc, char** argv) try {
    using namespace std::chrono_literals;
    unsigned* arrived = nullptr;
    check(cudaMalloc(&arrived, sizeof *arrived));
    check(cudaMemset(arrived, 0, sizeof *arrived));
    barmap::log_ring log(barmap::device::open(0), 1 << 12);
    work<<<blocks, 1>>>(log.handle(), arrived);
    check(cudaGetLastError());

    std::vector<barmap::log_record> newest(blocks);
    std::array<barmap::log_record, 64> records;
    while (log.wait_for(1s)) // until the kernel has said nothing for a second
        for (std::size_t i = 0, count = log.read(records); i < count; ++i)
            newest[records[i].a] = records[i];
    if (cudaStreamQuery(nullptr) != cudaErrorNotReady) {
        std::printf("the kernel has ended\n");
        return 1;
    }
    std::printf("the kernel hangs; %llu records were lost\n",
                static_cast<unsigned long long>(log.lost()));
    for (barmap::log_record const& each : newest)
        std::printf("block %u %s %u%s\n", each.a, names[each.id], each.b,
                    each.id == leaves ? "  <- the others wait for it" : "");
    bool const was_found = newest[5].id == leaves && newest[5].b == 17 && newest[0].id == arrives;
    if (argc > 1 && std::strcmp(argv[1], "--stay") == 0) {
        std::printf("see it from another process: barmap log %d\n", getpid());
        std::fflush(stdout);
        pause();
    }
    std::fflush(stdout);
    std::_Exit(was_found ? 0 : 1); // the kernel never ends, and the driver stops it
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
