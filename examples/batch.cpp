// SPDX-License-Identifier: MIT
// Offloads scattered blocks of a cache in GPU memory to pinned host memory, and reloads them to
// other places: two batches of a copy engine, the second one in the order of a CUDA stream.
#include "cuda_driver.hpp"

#include <barmap/barmap.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

int main() try {
    constexpr std::size_t block_bytes = 4096, blocks = 16;
    barmap::device const gpu = barmap::device::open(0);
    barmap::pin const cache = gpu.allocate(blocks * block_bytes); // or your own, of cudaMalloc
    barmap::host_buffer const pool = gpu.allocate_host(blocks * block_bytes); // or cudaMallocHost
    barmap::batch_queue queue = gpu.batch_queue(); // keep it: to start one takes milliseconds
    std::printf("%s%s: batches by engine %s\n", gpu.name().c_str(),
                gpu.simulated() ? " (simulated)" : "", std::string(queue.engine()).c_str());

    auto const in_cache = [&](std::size_t block) {
        return static_cast<std::uintptr_t>(cache.gpu_address()) + block * block_bytes;
    };
    auto const in_pool = [&](std::size_t place) {
        return reinterpret_cast<std::uintptr_t>(pool.data()) + place * block_bytes;
    };
    barmap::mapping const map = cache.map(); // to fill the cache, and to look at it
    for (std::size_t block = 0; block < blocks; ++block)
        barmap::fill(map.window(block * block_bytes, block_bytes), static_cast<std::byte>(block));

    // Offload: the kernels that write the cache have ended, and the CPU waits.
    constexpr std::array<std::size_t, 3> taken{7, 2, 11}, given{4, 14, 0};
    std::vector<barmap::copy_piece> pieces; // to, from, bytes
    for (std::size_t i = 0; i < taken.size(); ++i)
        pieces.push_back({in_pool(i), in_cache(taken[i]), block_bytes});
    barmap::batch_ticket const ticket = queue.submit(pieces);
    if (!queue.wait(ticket, std::chrono::seconds(1)))
        return 1;

    // Reload: after what the stream was given before, and before what it is given later. Neither
    // waits for the CPU. A stream is a cudaStream_t or CUstream; null is the default stream.
    pieces.clear();
    for (std::size_t i = 0; i < given.size(); ++i)
        pieces.push_back({in_cache(given[i]), in_pool(i), block_bytes});
    cuda_driver const cuda(gpu.ordinal());
    void* const stream = cuda.make_stream();
    using barmap::batch_queue;
    queue.submit(pieces, batch_queue::after{stream}, batch_queue::then{stream});
    cuda.wait();
    cuda.destroy_stream(stream);

    bool right = true;
    for (std::size_t i = 0; i < given.size(); ++i) {
        std::vector<std::byte> seen(block_bytes);
        barmap::read(seen, map.window(given[i] * block_bytes, block_bytes));
        right &= seen == std::vector<std::byte>(block_bytes, static_cast<std::byte>(taken[i]));
    }
    std::printf("%zu blocks out and back: %s\n", given.size(), right ? "right" : "WRONG");
    return right ? 0 : 1;
} catch (std::exception const& failure) { // a barmap::error says what to do
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
