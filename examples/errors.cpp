// SPDX-License-Identifier: MIT
// An error of barmap has a code to branch on, and a line of advice.
#include <barmap/barmap.hpp>

#include <cstddef>
#include <cstdio>
#include <string>

int main() try {
    constexpr std::size_t bytes = 1 << 20;
    barmap::device const gpu = barmap::device::open(0);
    barmap::pin const memory = gpu.allocate(bytes); // or a cudaMalloc pointer: see copy.cpp

    for (barmap::backend_report const& report : gpu.backends())
        std::printf("%-7s %-6s %s\n", report.name.c_str(),
                    std::string(to_string(report.state)).c_str(), report.reason.c_str());

    try {
        // Nothing is allocated this far behind it.
        (void)gpu.pin(memory.gpu_address(), std::size_t{1} << 40);
        std::fprintf(stderr, "more was pinned than there is\n");
        return 1;
    } catch (barmap::error const& failure) {
        std::printf("what():   %s\nadvice(): %s\n", failure.what(), failure.advice().c_str());
        if (failure.code() != barmap::errc::out_of_range)
            throw;
    }
    return 0;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
