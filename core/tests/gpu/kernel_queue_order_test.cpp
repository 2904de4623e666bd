// SPDX-License-Identifier: MIT
#include "kernel_queue_kernels.ptx.hpp"
#include "memory_traffic.hpp"

#include <barmap/kernel_queue.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>

/// What a submission of a kernel comes after, and who sees its bytes (docs/ordering.md, O55 and
/// O56); kernel_channel_test has the CPU as the reader. Each test runs alone and under memory
/// traffic.
namespace barmap::gpu_test {
namespace {

using gpu::word;

constexpr unsigned words = 4096;
constexpr std::size_t bytes = words * sizeof(unsigned);

class kernel_queue_order_test : public real_gpu {
protected:
    void SetUp() override {
        real_gpu::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        try {
            queue_.emplace(device::open(0));
        } catch (error const& failure) {
            if (failure.code() != errc::backend_absent)
                throw;
            GTEST_SKIP() << failure.what();
        }
        kernels_ = std::make_unique<loaded_kernels>(ptx::kernel_queue_kernels);
        traffic_ = std::make_unique<memory_traffic>(4);
        streams_ = std::make_unique<own_stream[]>(3);
        last_signal_ = std::make_unique<pinned_block>(4096);
        std::memset(last_signal_->bytes().data(), 0x7f, sizeof(unsigned));
        counts_ = std::make_unique<device_block>(sizeof(counts));
    }
    void TearDown() override {
        counts_.reset();
        last_signal_.reset();
        streams_.reset();
        traffic_.reset();
        kernels_.reset();
        queue_.reset();
        real_gpu::TearDown();
    }

    /// Runs it alone and under traffic, after a run of no rounds, by which CUDA loads its kernels.
    /// @param work enqueues kernels for that many rounds
    void expect_order(std::string const& what, std::size_t total,
                      std::function<void(unsigned)> const& work) {
        is_beside_traffic_ = false;
        start_counts();
        work(0);
        wait();
        for (bool const is_beside_traffic : {false, true}) {
            start_counts();
            auto const begin = std::chrono::steady_clock::now();
            is_beside_traffic_ = is_beside_traffic;
            if (is_beside_traffic)
                traffic_->start();
            work(static_cast<unsigned>(total));
            wait();
            if (is_beside_traffic) {
                EXPECT_TRUE(traffic_->stop()) << "the kernels have waited until its end";
            }
            std::chrono::duration<double> const time = std::chrono::steady_clock::now() - begin;
            counts found{};
            expect_success(cu().memcpy_dtoh(&found, counts_->address(), sizeof found));
            std::printf("%s%s: %zu rounds, %.1f s, %llu stale words\n", what.c_str(),
                        is_beside_traffic ? ", under traffic" : "", total, time.count(),
                        found.wrong);
            EXPECT_EQ(found.wrong, 0u) << what;
            EXPECT_EQ(found.failures, 0u) << what << ": a kernel has given up";
            queue_->check();
        }
    }

    /// Waits for what a stream has. What waits there for a signal of the first stream goes on, if
    /// that has given up.
    void wait_for(unsigned stream) const {
        while (!streams_[stream].is_idle()) {
            if (is_beside_traffic_)
                traffic_->feed();
            if (streams_[0].is_idle() && streams_[2].is_idle())
                expect_success(cu().memcpy_async(reinterpret_cast<CUdeviceptr>(&counted()->signal),
                                                 last_signal_->address(), sizeof(unsigned),
                                                 streams_[2].get()));
        }
    }
    void wait() const {
        for (unsigned stream = 0; stream < 3; ++stream)
            wait_for(stream);
    }

    /// What kernels count, and the words by which they tell each other; zeros at first.
    struct counts {
        word wrong, failures, go, arrived;
        alignas(64) unsigned signal;
        alignas(64) unsigned seen;
    };
    [[nodiscard]] counts* counted() const { return reinterpret_cast<counts*>(counts_->address()); }

    std::optional<kernel_queue> queue_;
    std::unique_ptr<loaded_kernels> kernels_;
    std::unique_ptr<memory_traffic> traffic_;
    std::unique_ptr<own_stream[]> streams_;
    std::unique_ptr<device_block> counts_;

private:
    void start_counts() const {
        fill_by_driver(counts_->address(), 0, sizeof(counts));
        expect_success(cu().ctx_synchronize());
    }
    bool is_beside_traffic_ = false;
    std::unique_ptr<pinned_block> last_signal_;
};

// Mutations that should fail here: in kernel_queue.cuh, publish() without the fence before it
// stores GP_PUT (the channel may hang, and the kernel gives up); here, scope `device` for words in
// host memory; in barmap_test_words_of_others, no all_of_block() between write() and submit().
TEST_F(kernel_queue_order_test, a_submission_comes_after_what_its_warp_has_seen_of_others) {
    constexpr unsigned many = 16 * words; // still on their way when the threads meet
    device_block const in_gpu(16 * bytes), copy(16 * bytes);
    pinned_block const in_host(16 * bytes);
    auto const expect = [&](char const* what, std::uintptr_t source, gpu::fence_scope scope) {
        expect_order(what, rounds(2000), [&](unsigned total) {
            kernels_->launch("barmap_test_words_of_others", 4, 256, streams_[0].get(),
                             queue_->handle(), static_cast<int>(scope), source, copy.address(),
                             many, &counted()->go, &counted()->arrived, total, &counted()->wrong,
                             &counted()->failures);
        });
    };
    expect("from the GPU's memory, scope device", in_gpu.address(), gpu::fence_scope::device);
    expect("from the GPU's memory", in_gpu.address(), gpu::fence_scope::system);
    expect("from the host's memory", in_host.address(), gpu::fence_scope::system);
}

// Mutations of kernel_queue.cuh that should fail here: put_copy() with launch_pipelined for the
// first piece as for the others; put_piece() that leaves a first piece of no bytes as it is (only
// rounds of odd numbers fail).
TEST_F(kernel_queue_order_test, a_list_reads_what_the_list_before_has_written) {
    device_block const in_gpu(bytes), between_in_gpu(bytes), copy(bytes);
    pinned_block const in_host(bytes), between_in_host(bytes);
    auto const expect = [&](char const* what, std::uintptr_t source, std::uintptr_t between) {
        expect_order(what, rounds(2000), [&](unsigned total) {
            kernels_->launch("barmap_test_chains", 1, 32, streams_[0].get(), queue_->handle(),
                             source, between, copy.address(), words, total, &counted()->wrong,
                             &counted()->failures);
        });
    };
    expect("inside the GPU", in_gpu.address(), between_in_gpu.address());
    expect("from the host, then inside the GPU", in_host.address(), between_in_gpu.address());
    expect("to the host and back", in_gpu.address(), between_in_host.address());
    expect("inside the host, then from it", in_host.address(), between_in_host.address());
}

// Mutations of put_copy() in kernel_queue.cuh that should fail here: launch_semaphore in the first
// piece's word and not in the last one's; no launch_flush (perhaps only under traffic).
TEST_F(kernel_queue_order_test, a_kernel_that_has_polled_the_signal_sees_the_bytes) {
    device_block const source(bytes), in_gpu(bytes);
    pinned_block const in_host(bytes);
    auto const expect = [&](char const* what, std::uintptr_t copy) {
        expect_order(what, rounds(2000), [&](unsigned total) {
            kernels_->launch("barmap_test_signal_reader", 1, 32, streams_[1].get(),
                             &counted()->signal, copy, words, &counted()->seen, total,
                             &counted()->wrong, &counted()->failures);
            kernels_->launch("barmap_test_signals", 1, 32, streams_[0].get(), queue_->handle(),
                             source.address(), copy, words, &counted()->signal, &counted()->seen,
                             total, &counted()->failures);
        });
    };
    expect("bytes in the GPU's memory", in_gpu.address());
    expect("bytes in the host's memory", in_host.address());
}

// The mutations are those of the test before.
TEST_F(kernel_queue_order_test, a_stream_that_has_waited_for_the_signal_sees_the_bytes) {
    device_block const source(bytes), in_gpu(bytes);
    pinned_block const in_host(bytes);
    auto const expect = [&](char const* what, std::uintptr_t copy) {
        expect_order(what, rounds(1000), [&](unsigned total) {
            kernels_->launch("barmap_test_signals", 1, 32, streams_[0].get(), queue_->handle(),
                             source.address(), copy, words, &counted()->signal, &counted()->seen,
                             total, &counted()->failures);
            CUstream const reader = streams_[1].get();
            auto const signal = reinterpret_cast<CUdeviceptr>(&counted()->signal);
            for (unsigned round = 0; round <= total; ++round) { // 0 is no round
                if (round % 128 == 127)
                    wait_for(1); // CUDA has room for so many
                expect_success(
                    cu().stream_wait_value32(reader, signal, round, cuda::wait_value_geq));
                kernels_->launch("barmap_test_words_are", 1, 256, reader, copy,
                                 round != 0 ? words : 0, &counted()->seen, round,
                                 &counted()->wrong);
            }
        });
    };
    expect("bytes in the GPU's memory", in_gpu.address());
    expect("bytes in the host's memory", in_host.address());
}

} // namespace
} // namespace barmap::gpu_test
