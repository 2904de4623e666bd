// SPDX-License-Identifier: MIT
#include "cuda/context_scope.hpp"
#include "real_gpu.hpp"

#include <barmap/kernel_queue.hpp>

#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <thread>
#include <vector>

/// Batches that CUDA graphs have captured.
namespace barmap::gpu_test {
namespace {

using namespace std::chrono_literals;

constexpr int capture_mode_global = 0; // in which most calls end a capture

class batch_graph_test : public real_gpu {
protected:
    static constexpr std::size_t count = 5000, slot = 4096, size = count * slot;

    void SetUp() override {
        real_gpu::SetUp();
        if (IsSkipped() || testing::Test::HasFatalFailure())
            return;
        try {
            kernel_queue const queue(gpu_.emplace(device::open(0)));
        } catch (error const& failure) {
            GTEST_SKIP() << failure.what();
        }
        expect_success(cu().stream_create(&stream_, 1)); // CU_STREAM_NON_BLOCKING
        expect_success(cu().stream_create(&other_, 1));
        from_.emplace(size);
        to_.emplace(size);
        std::mt19937_64 random(4711);
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t const bytes = 1 + random() % slot;
            pieces_.push_back(
                {to_->address() + i * slot, from_->address() + random() % (size - bytes), bytes});
        }
    }
    void TearDown() override {
        from_.reset();
        to_.reset();
        if (stream_)
            cu().stream_destroy(stream_);
        if (other_)
            cu().stream_destroy(other_);
        gpu_.reset();
        real_gpu::TearDown();
    }

    /// What `enqueue` gives the stream, behind a memset of where the pieces go.
    template <class Enqueue>
    [[nodiscard]] CUgraphExec capture(Enqueue enqueue) {
        CUgraph graph = nullptr;
        CUgraphExec result = nullptr;
        expect_success(cu().stream_begin_capture(stream_, capture_mode_global));
        expect_success(cu().memset_d32_async(to_->address(), 0, size / 4, stream_));
        enqueue();
        expect_success(cu().stream_end_capture(stream_, &graph));
        expect_success(cu().graph_instantiate(&result, graph, 0));
        expect_success(cu().graph_destroy(graph));
        return result;
    }
    void expect_to_copy(CUgraphExec graph, unsigned seed) {
        auto const sent = pattern(size, seed);
        write_by_driver(from_->address(), sent.data(), size);
        expect_success(cu().ctx_synchronize());
        std::vector<std::byte> expected(size), seen(size);
        for (copy_piece const& each : pieces_)
            std::memcpy(expected.data() + (each.to - to_->address()),
                        sent.data() + (each.from - from_->address()), each.bytes);
        expect_success(cu().graph_launch(graph, stream_));
        expect_success(cu().graph_launch(graph, stream_)); // two in flight
        expect_success(cu().stream_synchronize(stream_));
        expect_success(cu().memcpy_dtoh(seen.data(), to_->address(), size));
        ASSERT_TRUE(seen == expected);
    }

    std::optional<device> gpu_;
    CUstream stream_ = nullptr, other_ = nullptr;
    std::optional<device_block> from_, to_;
    std::vector<copy_piece> pieces_;
};

TEST_F(batch_graph_test, a_batch_is_copied_in_each_replay_until_the_graph_goes) {
    batch_queue const queue = gpu_->batch_queue();
    batch_ticket ticket{};
    CUgraphExec const graph = capture(
        [&] { ticket = batch_queue(queue).submit(pieces_, after{stream_}, then{stream_}); });
    for (unsigned seed = 1; seed <= 10; ++seed)
        expect_to_copy(graph, seed);
    // Other batches, and replays on another stream, at the same time.
    CUgraphExec const second =
        capture([&] { (void)batch_queue(queue).submit(pieces_, after{stream_}); });
    for (unsigned i = 0; i < 20; ++i) {
        expect_success(
            cu().graph_launch(i % 2 == 0 ? graph : second, i % 2 == 0 ? stream_ : other_));
        (void)batch_queue(queue).submit(pieces_);
    }
    expect_success(cu().stream_synchronize(stream_));
    expect_success(cu().stream_synchronize(other_));
    EXPECT_FALSE(queue.done(ticket));
    expect_success(cu().graph_exec_destroy(graph));
    EXPECT_TRUE(queue.wait(ticket, 10s));
    expect_success(cu().graph_exec_destroy(second));
}

TEST_F(batch_graph_test, graphs_keep_what_they_use) {
    std::optional<batch_queue> batches(gpu_->batch_queue());
    CUgraphExec const with_batch =
        capture([&] { (void)batches->submit(pieces_, after{stream_}, then{stream_}); });
    batches.reset();
    expect_to_copy(with_batch, 1);

    device_block const list(count * sizeof(copy_piece) + 8);
    std::uintptr_t const number = list.address() + count * sizeof(copy_piece);
    std::uint64_t const all = count;
    write_by_driver(list.address(), pieces_.data(), count * sizeof(copy_piece));
    write_by_driver(number, &all, sizeof all);
    expect_success(cu().ctx_synchronize());
    std::optional<kernel_queue> queue(std::in_place, *gpu_);
    CUgraphExec const with_list = capture([&] {
        queue->enqueue(reinterpret_cast<copy_piece const*>(list.address()),
                       reinterpret_cast<std::uint64_t const*>(number), count, 10s, stream_);
    });
    queue.reset();
    expect_to_copy(with_list, 2);
    // They go while another graph is captured, which that does not end.
    batch_queue others = gpu_->batch_queue();
    CUgraphExec const later = capture([&] {
        {
            cuda::relaxed_capture const relaxed;
            expect_success(cu().graph_exec_destroy(with_batch));
            expect_success(cu().graph_exec_destroy(with_list));
        }
        std::this_thread::sleep_for(200ms);
        (void)others.submit(pieces_, after{stream_});
    });
    expect_to_copy(later, 3);
    expect_success(cu().graph_exec_destroy(later));
}

TEST_F(batch_graph_test, an_address_that_is_not_mapped_is_told_by_the_ticket) {
    batch_queue queue = gpu_->batch_queue();
    pieces_.back().from = 0x1000;
    batch_ticket ticket{};
    CUgraphExec const bad = capture([&] { ticket = queue.submit(pieces_, after{stream_}); });
    expect_success(cu().graph_launch(bad, stream_));
    auto const until = std::chrono::steady_clock::now() + 5s;
    std::error_code seen;
    while (!seen && std::chrono::steady_clock::now() < until)
        seen = code_of([&] { (void)queue.done(ticket); });
    EXPECT_EQ(seen, errc::copy_unfinished);
    expect_success(cu().stream_synchronize(stream_)); // the kernel has given up
    expect_success(cu().graph_exec_destroy(bad));
    pieces_.pop_back();
    CUgraphExec const good = capture([&] { ticket = queue.submit(pieces_, after{stream_}); });
    expect_to_copy(good, 4);
    expect_success(cu().graph_exec_destroy(good));
}

} // namespace
} // namespace barmap::gpu_test
