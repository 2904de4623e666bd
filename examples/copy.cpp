// SPDX-License-Identifier: MIT
// Writes memory of cudaMalloc through a CPU pointer, lets CUDA read it, and the other way round.
#include <barmap/barmap.hpp>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <vector>

int main() {
    constexpr std::size_t bytes = 1 << 20;
    void* gpu_pointer = nullptr;
    if (cudaMalloc(&gpu_pointer, bytes) != cudaSuccess)
        return 1;

    barmap::device const gpu = barmap::device::from_pointer(gpu_pointer);
    barmap::pin const pin = gpu.pin(gpu_pointer, bytes);
    barmap::mapping const map = pin.map();
    std::printf("%s%s: %zu bytes of %s at CPU address %p, by backend %s\n", gpu.name().c_str(),
                gpu.simulated() ? " (simulated)" : "", map.size(),
                std::string(to_string(pin.memory())).c_str(), static_cast<void*>(map.data()),
                std::string(map.backend()).c_str());

    // CPU to GPU. A copy or kernel that CUDA starts after write() has returned sees the bytes.
    std::vector<std::byte> const sent(4096, std::byte{0x2a});
    write(map.window(100, sent.size()), sent);
    std::vector<std::byte> received(sent.size());
    cudaMemcpy(received.data(), static_cast<std::byte*>(gpu_pointer) + 100, received.size(),
               cudaMemcpyDeviceToHost);
    bool const there = received == sent;

    // GPU to CPU. cudaMemcpy of a small pageable buffer may return before its bytes have landed.
    std::vector<std::byte> const other(4096, std::byte{0x17});
    cudaMemcpy(gpu_pointer, other.data(), other.size(), cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
    barmap::read(received, map.window(0, other.size()));
    bool const back = received == other;

    std::printf("CPU to GPU: %s; GPU to CPU: %s\n", there ? "right" : "WRONG",
                back ? "right" : "WRONG");
    cudaFree(gpu_pointer);
    return there && back ? 0 : 1;
}
