// SPDX-License-Identifier: MIT
// Waits for a word that the GPU writes into its own memory, by reading it through the mapping.
#include <barmap/barmap.hpp>

#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>
#include <cstdio>

int main() {
    std::uint64_t* gpu_word = nullptr;
    if (cudaMalloc(reinterpret_cast<void**>(&gpu_word), sizeof *gpu_word) != cudaSuccess)
        return 1;
    barmap::mapping const map = barmap::device::from_pointer(gpu_word).pin(gpu_word, sizeof *gpu_word).map();
    barmap::window const word = map.window();
    barmap::write_value(word, std::uint64_t{0});

    // Any work of the GPU does; here it is a copy that nobody waits for.
    static std::uint64_t const signal = 7;
    cudaMemcpyAsync(gpu_word, &signal, sizeof signal, cudaMemcpyHostToDevice);

    // An aligned 8-byte read is one transaction, and never older than the one before it.
    using clock = std::chrono::steady_clock;
    auto const end = clock::now() + std::chrono::seconds(10);
    while (barmap::read_value<std::uint64_t>(word) != signal) {
        if (clock::now() > end) {
            std::puts("the word never came");
            return 1;
        }
    }
    std::puts("the word came");
    cudaDeviceSynchronize();
    cudaFree(gpu_word);
    return 0;
}
