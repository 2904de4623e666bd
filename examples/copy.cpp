// SPDX-License-Identifier: MIT
// Writes GPU memory through a CPU pointer, lets CUDA read it, and the other way round.
#include "cuda_driver.hpp"

#include <barmap/barmap.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

int main() try {
    constexpr std::size_t bytes = 1 << 20;
    barmap::device const gpu = barmap::device::open(0);
    cuda_driver const cuda(gpu.ordinal());
    std::uintptr_t const memory = cuda.allocate(bytes);
    barmap::pin const pin = gpu.pin(memory, bytes); // or gpu.allocate(bytes), without CUDA
    barmap::mapping const map = pin.map();
    std::printf("%s%s: %zu bytes at CPU address %p, by backend %s\n", gpu.name().c_str(),
                gpu.simulated() ? " (simulated)" : "", map.size(), static_cast<void*>(map.data()),
                std::string(map.backend()).c_str());

    // CPU to GPU. A copy or kernel that CUDA starts after write() has returned sees the bytes.
    std::vector<std::byte> const sent(4096, std::byte{0x2a});
    barmap::write(map.window(100, sent.size()), sent);
    std::vector<std::byte> received(sent.size());
    cuda.copy_to_cpu(received.data(), memory + 100, received.size());
    bool const there = received == sent;

    // GPU to CPU. A copy from a small pageable buffer may return before its bytes have landed.
    std::vector<std::byte> const other(4096, std::byte{0x17});
    cuda.copy_to_gpu(memory, other.data(), other.size());
    cuda.wait();
    barmap::read(received, map.window(0, other.size()));
    bool const back = received == other;
    cuda.free(memory); // the pin keeps what it has pinned

    std::printf("CPU to GPU: %s; GPU to CPU: %s\n", there ? "right" : "WRONG",
                back ? "right" : "WRONG");
    return there && back ? 0 : 1;
} catch (std::exception const& failure) { // a barmap::error says what to do
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
