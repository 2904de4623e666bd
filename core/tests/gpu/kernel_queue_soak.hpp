// SPDX-License-Identifier: MIT
#pragma once

#include "kernel_queue_soak_kernels.ptx.hpp"
#include "memory_traffic.hpp"
#include "soak_lists.hpp"

#include <barmap/kernel_queue.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace barmap::gpu_test {

/// Blocks of a kernel of GPU 0, each with a queue of its own, that submit random lists and check
/// every byte of them as soon as they are done (soak_lists.hpp); and graphs that enqueue such
/// lists. Its seed is ENGINE_TEST_SEED, or a random one. @pre the context of GPU 0 is current
class soak_of_queues {
public:
    static constexpr unsigned queues = 4;
    static constexpr std::size_t source_bytes = soak::pool_bytes,
                                 target_bytes = std::size_t{queues} * soak::regions_of_queue *
                                                soak::region_bytes;

    /// @param from, to GPU memory of source_bytes and of target_bytes, on a GPU whose memory GPU 0
    ///        reaches
    soak_of_queues(std::unique_ptr<device_block> from, std::unique_ptr<device_block> to)
        : from_gpu_(std::move(from)), to_gpu_(std::move(to)) {
        device const gpu_0 = device::open(0);
        std::vector<gpu::kernel_queue> handles;
        for (unsigned i = 0; i < queues; ++i) {
            queues_.emplace_back(gpu_0);
            handles.push_back(queues_.back().handle());
        }
        write_by_driver(handles_.address(), handles.data(), handles.size() * sizeof handles[0]);
        std::memset(to_host_.bytes().data(), soak::poison & 0xff, target_bytes);
        write_by_driver(to_gpu_->address(), to_host_.bytes().data(), target_bytes);
        expect_success(cu_.ctx_synchronize());
        fill(from_gpu_->address(), soak::salt_of_gpu);
        fill(from_host_.address(), soak::salt_of_host);
        launch(task_of(gpu::fence_scope::system, 0)); // loads it
        stream_.wait();
    }

    /// Launches the kernel that often: each time every queue gets so many lists. @param traffic
    /// runs meanwhile, unless it is null
    void expect_right(char const* condition, gpu::fence_scope scope, std::size_t launches,
                      memory_traffic* traffic = nullptr) {
        start();
        for (std::size_t i = 0; i < launches && is_right(); ++i) {
            soak::task const task = task_of(scope, lists_of_launch);
            if (traffic)
                traffic->start();
            launch(task);
            {
                std::atomic<bool> is_over = false;
                std::vector<soak::report> by_cpu(queues);
                std::vector<std::jthread> threads;
                for (unsigned queue = 0; queue < queues; ++queue)
                    threads.emplace_back(
                        [&, queue] { check_by_cpu(task, queue, is_over, by_cpu[queue]); });
                while (!stream_.is_idle())
                    if (traffic)
                        traffic->feed();
                is_over = true;
                threads.clear(); // joins them
                for (soak::report const& each : by_cpu)
                    add(each);
            }
            if (traffic) {
                EXPECT_TRUE(traffic->stop()) << "the kernel has waited until the traffic's end";
            }
            for (unsigned queue = 0; queue < queues; ++queue)
                expect_pieces(queue, task.first, task.rounds);
            next_ += lists_of_launch;
        }
        finish(condition);
    }

    /// Replays a graph that often on two streams at once. Both use the same queue. A kernel of the
    /// graph writes a new list each time, and another one checks the copies.
    void expect_right_in_graphs(char const* condition, std::size_t replays) {
        start();
        std::vector<graph> graphs(2);
        for (unsigned i = 0; i < graphs.size(); ++i)
            capture(graphs[i], i);
        constexpr std::size_t in_flight = 16;
        std::size_t done = 0;
        for (; done < replays && is_right(); done += std::min(in_flight, replays - done)) {
            for (std::size_t i = done; i < std::min(done + in_flight, replays); ++i)
                for (graph const& each : graphs)
                    expect_success(cu_.graph_launch(each.ready, each.stream.get()));
            for (graph const& each : graphs)
                each.stream.wait();
            queues_.front().check();
        }
        for (unsigned i = 0; i < graphs.size(); ++i)
            expect_pieces(i, 1, static_cast<unsigned>(done) + 1); // and once without the graph
        finish(condition);
    }

private:
    static constexpr unsigned lists_of_launch = 256;
    using clock = std::chrono::steady_clock;

    struct graph {
        graph() { fill_by_driver(number.address(), 0, sizeof(unsigned)); }
        graph(graph const&) = delete;
        graph& operator=(graph const&) = delete;
        ~graph() {
            cuda::api().graph_exec_destroy(ready);
            cuda::api().graph_destroy(captured);
        }
        own_stream stream;
        device_block number{4096}, count{4096}, pieces{soak::most_pieces * sizeof(gpu::copy_piece)};
        CUgraph captured = nullptr;
        CUgraphExec ready = nullptr;
    };

    static std::uint64_t seed_of_run() {
        char const* const given = std::getenv("ENGINE_TEST_SEED");
        return given ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    }
    [[nodiscard]] soak::memory where() const {
        return {from_gpu_->address(), from_host_.address(), to_gpu_->address(), to_host_.address()};
    }
    [[nodiscard]] soak::report* report() const {
        return reinterpret_cast<soak::report*>(report_.address());
    }
    [[nodiscard]] soak::task task_of(gpu::fence_scope scope, unsigned lists) const {
        return {where(),
                seed_,
                reinterpret_cast<gpu::kernel_queue const*>(handles_.address()),
                reinterpret_cast<soak::lone_word*>(signals_.address()),
                reinterpret_cast<soak::lone_word const*>(answers_.address()),
                report(),
                next_,
                lists,
                static_cast<int>(scope)};
    }
    void launch(soak::task const& task) const {
        kernels_.launch("barmap_soak", queues, soak::threads_of_block, stream_.get(), task);
    }
    void fill(std::uintptr_t pool, unsigned salt) const {
        kernels_.launch("barmap_soak_fill", 256, soak::threads_of_block, stream_.get(), pool, salt);
    }

    /// Checks the lists of a queue that are for the CPU, as their signals come.
    void check_by_cpu(soak::task const& task, unsigned queue, std::atomic<bool> const& is_over,
                      soak::report& found) const {
        auto const word_of = [queue](pinned_block const& of) {
            return std::atomic_ref(
                reinterpret_cast<soak::lone_word*>(of.bytes().data())[queue].value);
        };
        for (unsigned round = 0; round < task.rounds; ++round) {
            soak::list const of = soak::list_of(task.where, task.seed, queue, task.first + round);
            if (!of.is_for_cpu)
                continue;
            // The next one's signal may be there already.
            while (word_of(signals_).load(std::memory_order_acquire) <= of.number) {
                if (is_over)
                    return; // the kernel has given up
                std::this_thread::yield();
            }
            soak::check(of, 0, 1, found);
            found.pieces += of.count;
            word_of(answers_).store(of.number + 1, std::memory_order_release);
        }
    }

    void enqueue(graph const& one, unsigned queue) const {
        auto* const number = reinterpret_cast<unsigned*>(one.number.address());
        auto* const pieces = reinterpret_cast<copy_piece*>(one.pieces.address());
        auto* const count = reinterpret_cast<std::uint64_t*>(one.count.address());
        CUstream const stream = one.stream.get();
        kernels_.launch("barmap_soak_table", 1, soak::threads_of_block, stream, where(), seed_,
                        queue, number, pieces, count);
        queues_.front().enqueue(pieces, count, soak::most_pieces, std::chrono::seconds(2), stream);
        kernels_.launch("barmap_soak_check", 16, soak::threads_of_block, stream, where(), seed_,
                        queue, number, report());
    }
    void capture(graph& one, unsigned queue) const {
        expect_success(cu_.ctx_synchronize());
        enqueue(one, queue); // loads the kernels
        one.stream.wait();
        expect_success(cu_.stream_begin_capture(one.stream.get(), cuda::capture_mode_thread_local));
        enqueue(one, queue);
        expect_success(cu_.stream_end_capture(one.stream.get(), &one.captured));
        expect_success(cu_.graph_instantiate(&one.ready, one.captured, 0));
    }

    void start() {
        sum_ = {};
        expected_ = 0;
        fill_by_driver(report_.address(), 0, sizeof sum_);
        expect_success(cu_.ctx_synchronize());
        began_ = clock::now();
    }
    void expect_pieces(unsigned queue, unsigned first, unsigned lists) {
        for (unsigned i = 0; i < lists; ++i)
            expected_ += soak::list_of(where(), seed_, queue, first + i).count;
    }
    void add(soak::report const& one) {
        sum_.pieces += one.pieces;
        sum_.bytes += one.bytes;
        sum_.wrong += one.wrong;
        sum_.stray += one.stray;
        if (one.status != 0)
            sum_.status = one.status;
        if (one.is_first != 0 && sum_.is_first == 0) {
            sum_.is_first = 1;
            sum_.queue = one.queue;
            sum_.number = one.number;
            sum_.at = one.at;
            sum_.seen = one.seen;
            sum_.expected = one.expected;
        }
    }
    [[nodiscard]] soak::report found_by_gpu() const {
        soak::report result{};
        expect_success(cu_.memcpy_dtoh(&result, report_.address(), sizeof result));
        return result;
    }
    /// Whether it makes sense to go on.
    [[nodiscard]] bool is_right() const {
        soak::report const found = found_by_gpu();
        return found.status == 0 && found.is_first == 0 && sum_.is_first == 0 &&
               !testing::Test::HasFailure();
    }
    void finish(char const* condition) {
        std::chrono::duration<double> const time = clock::now() - began_;
        add(found_by_gpu());
        std::printf("%s: %llu pieces, %llu bytes, %.1f s, %llu wrong bytes, %llu stray bytes, "
                    "seed %#llx\n",
                    condition, sum_.pieces, sum_.bytes, time.count(), sum_.wrong, sum_.stray,
                    static_cast<unsigned long long>(seed_));
        if (sum_.is_first != 0)
            std::printf("first: queue %llu, list %llu, at %#llx of its region: %08llx instead "
                        "of %08llx\n",
                        sum_.queue, sum_.number, sum_.at, sum_.seen, sum_.expected);
        EXPECT_EQ(sum_.wrong, 0u);
        EXPECT_EQ(sum_.stray, 0u);
        EXPECT_EQ(sum_.status, 0u) << "a gpu::status: the kernel has given up";
        EXPECT_EQ(sum_.pieces, expected_) << "not all have been checked";
        for (kernel_queue const& each : queues_)
            each.check();
    }

    cuda::driver_api const& cu_ = cuda::api();
    gpu::word const seed_ = seed_of_run();
    unsigned next_ = 0; ///< list of each queue
    std::unique_ptr<device_block> from_gpu_, to_gpu_;
    pinned_block from_host_{source_bytes}, to_host_{target_bytes}, signals_{4096}, answers_{4096};
    device_block handles_{4096}, report_{4096};
    loaded_kernels kernels_{ptx::kernel_queue_soak_kernels};
    own_stream stream_;
    std::vector<kernel_queue> queues_;
    soak::report sum_{};
    gpu::word expected_ = 0; ///< pieces
    clock::time_point began_;
};

} // namespace barmap::gpu_test
