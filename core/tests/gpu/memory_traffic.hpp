// SPDX-License-Identifier: MIT
#pragma once

#include "loaded_kernels.hpp"
#include "traffic_kernels.ptx.hpp"

#include <barmap/gpu/words.cuh>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace barmap::gpu_test {

/// Work that keeps a GPU's memory and its link busy: a kernel that copies GPU memory on most
/// multiprocessors, and copies of CUDA to the host and from it.
///
///     memory_traffic traffic(queues);
///     traffic.start();
///     while (!stream.is_idle())
///         traffic.feed();
///     EXPECT_TRUE(traffic.stop());
///
/// While it runs, allocate and free nothing: CUDA might wait for its kernel.
class memory_traffic {
public:
    /// @param free_multiprocessors which the kernel leaves to others
    explicit memory_traffic(unsigned free_multiprocessors) {
        CUdevice device = 0;
        int multiprocessors = 0;
        expect_success(cuda::api().ctx_get_device(&device));
        expect_success(cuda::api().device_get_attribute(
            &multiprocessors, cuda::attribute_multiprocessor_count, device));
        blocks_ = static_cast<unsigned>(
            std::max(1, multiprocessors - static_cast<int>(free_multiprocessors)));
        fill_by_driver(passes_.address(), 0, sizeof(gpu::word));
        launch(std::chrono::nanoseconds(0)); // loads it
        stream_.wait();
    }

    void start() {
        set_stop(0);
        began_ = std::chrono::steady_clock::now();
        launch(limit);
    }
    /// Gives CUDA more to copy. Call it again and again.
    void feed() {
        for (std::size_t way = 0; way < links_.size(); ++way)
            if (links_[way].is_idle()) {
                auto const [to, from] =
                    way == 0 ? std::pair{host_to_.address(), linked_.address()}
                             : std::pair{linked_.address() + linked_bytes, host_from_.address()};
                for (unsigned i = 0; i < 4; ++i)
                    expect_success(
                        cuda::api().memcpy_async(to, from, linked_bytes, links_[way].get()));
                fed_ += 4 * linked_bytes;
            }
    }
    /// Ends it. @return whether its kernel has run until now
    [[nodiscard]] bool stop() {
        bool const has_run = !stream_.is_idle();
        set_stop(1);
        stream_.wait();
        for (own_stream const& each : links_)
            each.wait();
        seconds_ +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
        return has_run;
    }
    /// What it has moved, loads and stores: in GPU memory, and over the link.
    void print() const {
        gpu::word passes = 0;
        expect_success(cuda::api().memcpy_dtoh(&passes, passes_.address(), sizeof passes));
        double const in_gpu = 2.0 * static_cast<double>(passes) / blocks_ * bytes;
        std::printf("traffic: %.0f GB/s in GPU memory, %.1f GB/s over the link\n",
                    in_gpu / seconds_ / 1e9, static_cast<double>(fed_) / seconds_ / 1e9);
    }

private:
    static constexpr std::size_t bytes = 1024 * mib, linked_bytes = 64 * mib;
    static constexpr std::chrono::nanoseconds limit = std::chrono::seconds(60);

    void launch(std::chrono::nanoseconds at_most) {
        kernels_.launch("barmap_traffic", blocks_, 1024, stream_.get(), copied_.address(),
                        copied_.address() + bytes, gpu::word{bytes / sizeof(gpu::word)},
                        stop_.address(), static_cast<gpu::word>(at_most.count()),
                        passes_.address());
    }
    void set_stop(std::uint32_t value) const {
        std::atomic_ref(*reinterpret_cast<std::uint32_t*>(stop_.bytes().data()))
            .store(value, std::memory_order_release);
    }

    unsigned blocks_ = 1;
    loaded_kernels kernels_{ptx::traffic_kernels};
    device_block copied_{2 * bytes}, linked_{2 * linked_bytes}, passes_{4096};
    pinned_block host_to_{linked_bytes}, host_from_{linked_bytes}, stop_{4096};
    own_stream stream_;
    std::array<own_stream, 2> links_;
    std::size_t fed_ = 0;
    double seconds_ = 0;
    std::chrono::steady_clock::time_point began_;
};

} // namespace barmap::gpu_test
