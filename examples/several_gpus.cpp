// SPDX-License-Identifier: MIT
// Writes to each GPU of the machine from a separate thread, and shows what a GPU refuses.
//
//     barmap sim --devices 4 -- ./several_gpus        # without GPUs
#include <barmap/barmap.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <thread>
#include <vector>

namespace {

/// A number that no other GPU gets, there and back.
bool greet(int ordinal) {
    auto const gpu = barmap::device::open(ordinal);
    auto const map = gpu.allocate(1 << 20).map();
    barmap::write_value(map.window(0, 8), std::uint64_t{100} + ordinal);
    auto const back = barmap::read_value<std::uint64_t>(map.window(0, 8));
    std::printf("GPU %d, %s at %s: %d\n", ordinal, gpu.name().c_str(), gpu.pci_address().c_str(),
                static_cast<int>(back));
    return back == std::uint64_t{100} + ordinal;
}

} // namespace

int main() try {
    int const count = barmap::device::count();
    if (count == 0) {
        std::fputs("no GPU here: start with `barmap sim --devices 4 --`\n", stderr);
        return 1;
    }
    std::atomic<int> right = 0;
    {
        // Opening a GPU does not wait for another one. A thread needs no CUDA context.
        std::vector<std::jthread> threads;
        for (int ordinal = 0; ordinal < count; ++ordinal)
            threads.emplace_back([&right, ordinal] {
                try {
                    right += greet(ordinal);
                } catch (barmap::error const& failure) {
                    std::fprintf(stderr, "GPU %d: %s\n", ordinal, failure.what());
                }
            });
    }
    if (count > 1) {
        // Memory belongs to one GPU: from_pointer() finds it, and others refuse it.
        auto const second = barmap::device::open(1);
        auto const pin = second.allocate(1 << 20);
        auto const pointer = reinterpret_cast<void*>(pin.gpu_address());
        std::printf("the memory is GPU %d's\n", barmap::device::from_pointer(pointer).ordinal());
        try {
            (void)barmap::device::open(0).pin(pointer, 1 << 20);
            return 1;
        } catch (barmap::error const& refused) {
            std::printf("GPU 0: %s\n", refused.what());
        }
    }
    return right == count ? 0 : 1;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
