// SPDX-License-Identifier: MIT
#include <barmap/barmap.hpp>

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

int main() {
    void* memory = nullptr;
    if (cudaMalloc(&memory, 4096) != cudaSuccess)
        return 1;
    barmap::mapping const map = barmap::device::open(0).pin(memory, 4096).map();
    barmap::write_value(map.window(8, 8), std::uint64_t{42});
    std::uint64_t there = 0;
    cudaMemcpy(&there, static_cast<char*>(memory) + 8, sizeof there, cudaMemcpyDeviceToHost);
    auto const back = barmap::read_value<std::uint64_t>(map.window(8, 8));
    std::printf("barmap %s: %d %d\n", std::string(barmap::version()).c_str(), int(there),
                int(back));
    cudaFree(memory);
    return there == 42 && back == 42 ? 0 : 1;
}
