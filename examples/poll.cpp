// SPDX-License-Identifier: MIT
// Waits for a word that the GPU writes into its own memory, by reading it through the mapping.
#include "cuda_driver.hpp"

#include <barmap/barmap.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>

int main() try {
    barmap::device const gpu = barmap::device::open(0);
    barmap::pin const pin = gpu.allocate(sizeof(std::uint64_t)); // or pin(): see copy.cpp
    barmap::mapping const map = pin.map();
    barmap::window const word = map.window();
    barmap::write_value(word, std::uint64_t{0});

    // Any work of the GPU will do; here it is a copy for which no call waits.
    cuda_driver const cuda(gpu.ordinal());
    static std::uint64_t const signal = 7;
    cuda.start_copy_to_gpu(pin.gpu_address(), &signal, sizeof signal);

    // An aligned 8-byte read is one transaction, and never older than the one before it.
    auto const came = barmap::read_until<std::uint64_t>(
        word, [](std::uint64_t seen) { return seen == signal; },
        std::chrono::steady_clock::now() + std::chrono::seconds(10));
    if (!came) {
        std::fprintf(stderr, "the word never came\n");
        return 1;
    }
    std::puts("the word came");
    cuda.wait();
    return 0;
} catch (std::exception const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
