// SPDX-License-Identifier: MIT
// What barmap says when it cannot do what it is asked: a code to branch on, and a line of advice.
#include <barmap/barmap.hpp>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>

int main() {
    constexpr std::size_t bytes = 1 << 20;
    std::byte* gpu_pointer = nullptr;
    if (cudaMalloc(reinterpret_cast<void**>(&gpu_pointer), bytes) != cudaSuccess)
        return 1;
    barmap::device const gpu = barmap::device::from_pointer(gpu_pointer);

    for (barmap::backend_report const& report : gpu.backends())
        std::printf("%-7s %-6s %s\n", report.name.c_str(),
                    std::string(to_string(report.state)).c_str(), report.reason.c_str());

    bool refused = false;
    try {
        (void)gpu.pin(gpu_pointer + bytes / 2, bytes); // half of it lies past the end
    } catch (barmap::error const& failure) {
        refused = failure.code() == barmap::errc::out_of_range;
        std::printf("what():   %s\nadvice(): %s\n", failure.what(), failure.advice().c_str());
    }
    cudaFree(gpu_pointer);
    return refused ? 0 : 1;
}
