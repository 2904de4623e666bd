// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/kernel_channel.hpp"

#include "gpu/gpu_identity.hpp"
#include "kernel_queue_kernels.ptx.hpp"
#include "odd_pieces.hpp"
#include "other_run.hpp"
#include "peer_gpus.hpp"
#include "real_gpu.hpp"

#include <barmap/kernel_queue.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <random>
#include <thread>
#include <vector>

/// Copies that a kernel submits.
namespace barmap::gpu_test {
namespace {

using namespace std::chrono_literals;
using barmap::gpu::word;

constexpr std::size_t pool = std::size_t{64} << 20;

class kernel_channel_test : public real_gpu {
protected:
    void SetUp() override {
        real_gpu::SetUp();
        if (IsSkipped() || testing::Test::HasFatalFailure())
            return;
        try {
            channel_.emplace(identify(0), engine::kernel_channel::form{});
        } catch (error const& failure) {
            GTEST_SKIP() << failure.what();
        }
        expect_success(cu().module_load_data(&module_, ptx::kernel_queue_kernels));
        expect_success(cu().stream_create(&stream_, 1)); // CU_STREAM_NON_BLOCKING
        failures_.emplace(4096);
        std::memset(failures_->bytes().data(), 0, 4096);
    }
    void TearDown() override {
        if (channel_)
            channel_->wait_for_kernels();
        if (stream_)
            cu().stream_destroy(stream_);
        if (module_)
            cu().module_unload(module_);
        channel_.reset();
        failures_.reset();
        real_gpu::TearDown();
    }

    template <class... Arguments>
    void launch(char const* name, Arguments... arguments) {
        CUfunction function = nullptr;
        expect_success(cu().module_get_function(&function, module_, name));
        void* pointers[] = {&arguments...};
        expect_success(
            cu().launch_kernel(function, 1, 1, 1, 32, 1, 1, 0, stream_, pointers, nullptr));
    }
    void expect_no_failure() {
        expect_success(cu().stream_synchronize(stream_));
        word found = 0;
        std::memcpy(&found, failures_->bytes().data(), sizeof found);
        EXPECT_EQ(found, 0u);
        auto const why = channel_->failure();
        EXPECT_FALSE(why) << *why;
    }
    [[nodiscard]] word* failures() const { return reinterpret_cast<word*>(failures_->address()); }

    std::optional<engine::kernel_channel> channel_;
    CUmodule module_ = nullptr;
    CUstream stream_ = nullptr;
    std::optional<pinned_block> failures_;
};

TEST_F(kernel_channel_test, copies_random_lists_byte_for_byte) {
    device_block const first(pool), second(pool);
    pinned_block const host(pool);
    std::vector<std::byte> const sent = pattern(pool, 77);
    std::mt19937_64 random(4711);
    std::size_t checked = 0;
    constexpr unsigned lists = 16, count = 1024;
    constexpr std::size_t slot = pool / (lists * count);
    device_block const table(lists * count * sizeof(barmap::gpu::copy_piece));
    for (unsigned round = 0; round < rounds(12); ++round) {
        int const way = static_cast<int>(round % 3); // to the host, from it, inside the GPU
        int const scope = static_cast<int>(round / 3 % 2);
        std::uint64_t const from = way == 1 ? host.address() : first.address();
        std::uint64_t const to = way == 0 ? host.address() : second.address();
        if (way == 1)
            std::memcpy(host.bytes().data(), sent.data(), pool);
        else
            write_by_driver(first.address(), sent.data(), pool);
        std::vector<std::byte> expected(pool, std::byte{0x5a});
        fill_by_driver(second.address(), 0x5a, pool);
        if (way == 0)
            std::memset(host.bytes().data(), 0x5a, pool);
        std::vector<barmap::gpu::copy_piece> pieces;
        for (std::size_t i = 0; i < lists * count; ++i) {
            std::size_t const bytes = random() % (slot + 1),
                              at = i * slot + random() % (slot - bytes + 1),
                              source = random() % (pool - bytes);
            pieces.push_back({to + at, from + source, bytes});
        }
        std::shuffle(pieces.begin(), pieces.end(), random);
        put_odd_pieces(pieces, count, random);
        for (barmap::gpu::copy_piece const& each : pieces)
            if (each.bytes != 0 && each.bytes <= slot)
                std::memcpy(expected.data() + (each.to - to), sent.data() + (each.from - from),
                            each.bytes);
        write_by_driver(table.address(), pieces.data(), pieces.size() * sizeof pieces[0]);
        expect_success(cu().ctx_synchronize());
        launch("barmap_test_lists", channel_->queue(), table.address(), lists, count, 1 + round % 4,
               scope, failures());
        expect_no_failure();
        std::vector<std::byte> seen(pool);
        if (way == 0)
            std::memcpy(seen.data(), host.bytes().data(), pool);
        else
            expect_success(cu().memcpy_dtoh(seen.data(), second.address(), pool));
        ASSERT_TRUE(same_bytes(seen, expected)) << "way " << way;
        checked += pieces.size();
    }
    std::printf("%zu pieces\n", checked);
}

TEST_F(kernel_channel_test, the_cpu_never_sees_a_signal_before_the_bytes) {
    constexpr unsigned words = 4096;
    device_block const source(words * 4), seen(4096);
    pinned_block const host(words * 4), signal(4096);
    std::memset(signal.bytes().data(), 0, 4096);
    std::memset(host.bytes().data(), 0, words * 4);
    pinned_block const answer(4096);
    std::memset(answer.bytes().data(), 0, 4096);
    auto const total = static_cast<unsigned>(rounds(3000));
    launch("barmap_test_signals", channel_->queue(), source.address(), host.address(), words,
           signal.address(), answer.address(), total, failures());
    auto* const flag = reinterpret_cast<std::uint32_t*>(signal.bytes().data());
    auto const* const numbers = reinterpret_cast<std::uint32_t const*>(host.bytes().data());
    unsigned stale = 0;
    auto const until = std::chrono::steady_clock::now() + 60s;
    for (unsigned round = 1; round <= total; ++round) {
        while (std::atomic_ref(*flag).load(std::memory_order_acquire) < round)
            if (std::chrono::steady_clock::now() > until)
                FAIL() << "round " << round << " did not come";
        for (unsigned i = 0; i < words; ++i)
            stale += numbers[i] != round;
        std::atomic_ref(*reinterpret_cast<std::uint32_t*>(answer.bytes().data()))
            .store(round, std::memory_order_release);
    }
    expect_no_failure();
    EXPECT_EQ(stale, 0u);
}

/// A list in memory, for kernel_queue::enqueue() and for the kernels of this test.
class list_in_memory {
public:
    explicit list_in_memory(std::size_t most) : most_(most) {}
    void set(std::vector<barmap::gpu::copy_piece> const& pieces) const {
        word const count = pieces.size();
        cuda::driver_api const& cu = cuda::api();
        write_by_driver(pieces_.address(), pieces.data(),
                        pieces.size() * sizeof(barmap::gpu::copy_piece));
        write_by_driver(count_.address(), &count, sizeof count);
        expect_success(cu.ctx_synchronize());
    }
    [[nodiscard]] copy_piece const* pieces() const {
        return reinterpret_cast<copy_piece const*>(pieces_.address());
    }
    [[nodiscard]] std::uint64_t const* count() const {
        return reinterpret_cast<std::uint64_t const*>(count_.address());
    }
    [[nodiscard]] std::size_t most() const { return most_; }

private:
    std::size_t most_;
    device_block pieces_{most_ * sizeof(barmap::gpu::copy_piece)}, count_{4096};
};

TEST_F(kernel_channel_test, an_address_that_is_not_mapped_stops_the_channel_and_not_cuda) {
    pinned_block const host(mib);
    device_block const block(mib);
    list_in_memory const list(2);
    for (unsigned round = 0; round < rounds(3); ++round) {
        list.set({{host.address(), block.address(), 4096}, {host.address() + 4096, 0x1000, 4096}});
        auto const begin = std::chrono::steady_clock::now();
        launch("barmap_test_lists", channel_->queue(), list.pieces(), 1u, 2u, 1u, 0, failures());
        std::optional<std::string> why;
        while (!(why = channel_->failure()) && std::chrono::steady_clock::now() - begin < 5s)
            std::this_thread::sleep_for(1ms);
        ASSERT_TRUE(why);
        EXPECT_NE(why->find("error 31"), std::string::npos) << *why;
        expect_success(cu().stream_synchronize(stream_)); // the kernel has given up
        std::printf("told after %.0f ms, ", std::chrono::duration<double, std::milli>(
                                                std::chrono::steady_clock::now() - begin)
                                                .count());
        word found = 0;
        std::memcpy(&found, failures_->bytes().data(), sizeof found);
        EXPECT_EQ(found, 1u);
        std::memset(failures_->bytes().data(), 0, sizeof found);
        auto const again = std::chrono::steady_clock::now();
        channel_.reset();
        channel_.emplace(identify(0), engine::kernel_channel::form{});
        std::printf("made new in %.1f ms\n", std::chrono::duration<double, std::milli>(
                                                 std::chrono::steady_clock::now() - again)
                                                 .count());
        list.set({{host.address(), block.address(), 4096}});
        launch("barmap_test_lists", channel_->queue(), list.pieces(), 1u, 1u, 1u, 0, failures());
        expect_no_failure();
    }
}

TEST_F(kernel_channel_test, lists_in_memory_are_copied_in_stream_order_and_in_graphs) {
    constexpr std::size_t most = 3000, slot = 4096, size = most * slot;
    device const gpu = device::open(0);
    kernel_queue queue(gpu);
    device_block const from(size), to(size);
    auto const sent = pattern(size, 5);
    write_by_driver(from.address(), sent.data(), size);
    list_in_memory const list(most);
    CUgraph graph = nullptr;
    CUgraphExec ready = nullptr;
    expect_success(cu().stream_begin_capture(stream_, cuda::capture_mode_thread_local));
    expect_success(cu().memset_d32_async(to.address(), 0, size / 4, stream_));
    queue.enqueue(list.pieces(), list.count(), most, 10s, stream_);
    expect_success(cu().stream_end_capture(stream_, &graph));
    expect_success(cu().graph_instantiate(&ready, graph, 0));
    std::mt19937_64 random(99);
    for (unsigned round = 0; round < rounds(20); ++round) {
        std::vector<barmap::gpu::copy_piece> pieces;
        std::vector<std::byte> expected(size);
        for (std::size_t i = 0, count = random() % (most + 1); i < count; ++i) {
            std::size_t const bytes = 1 + random() % slot, source = random() % (size - bytes);
            pieces.push_back({to.address() + i * slot, from.address() + source, bytes});
            std::memcpy(expected.data() + i * slot, sent.data() + source, bytes);
        }
        list.set(pieces); // the graph reads it again
        if (round % 2 == 0) {
            expect_success(cu().graph_launch(ready, stream_));
            expect_success(cu().graph_launch(ready, stream_)); // two in flight
        } else {
            expect_success(cu().memset_d32_async(to.address(), 0, size / 4, stream_));
            queue.enqueue(list.pieces(), list.count(), most, 10s, stream_);
        }
        std::vector<std::byte> seen(size);
        pinned_block const host(size);
        expect_success(cu().memcpy_async(host.address(), to.address(), size, stream_));
        expect_success(cu().stream_synchronize(stream_));
        ASSERT_TRUE(same_bytes(host.bytes(), expected)) << pieces.size();
        queue.check();
    }
    // On two streams they take turns.
    CUstream other = nullptr;
    expect_success(cu().stream_create(&other, 1));
    for (unsigned i = 0; i < 50; ++i)
        queue.enqueue(list.pieces(), list.count(), most, 10s, i % 2 == 0 ? stream_ : other);
    expect_success(cu().stream_synchronize(stream_));
    expect_success(cu().stream_synchronize(other));
    queue.check();
    cu().stream_destroy(other);
    cu().graph_exec_destroy(ready);
    cu().graph_destroy(graph);
}

TEST_F(kernel_channel_test, ends_after_the_kernels_that_use_it) {
    pinned_block const host(mib);
    device_block const block(mib);
    constexpr std::size_t lists = 500, count = 256;
    list_in_memory const list(lists * count);
    std::vector<barmap::gpu::copy_piece> pieces;
    for (std::size_t i = 0; i < lists * count; ++i)
        pieces.push_back(
            {host.address() + i % count * 4096, block.address() + i % count * 4096, 4096});
    list.set(pieces);
    for (unsigned round = 0; round < rounds(5); ++round) {
        launch("barmap_test_lists", channel_->queue(), list.pieces(), unsigned{lists},
               unsigned{count}, 1u, 0, failures());
        channel_->wait_for_kernels(); // 10 ms
        channel_.reset();
        expect_success(cu().ctx_synchronize());
        channel_.emplace(identify(0), engine::kernel_channel::form{});
        expect_no_failure();
    }
}

// What a kernel leaves behind that dies: its context is lost, and nothing else.
TEST_F(kernel_channel_test, DISABLED_is_used_by_a_kernel_that_traps) {
    pinned_block const host(mib);
    device_block const block(mib);
    launch("barmap_test_trap", channel_->queue(), block.address(), host.address());
    EXPECT_NE(cu().stream_synchronize(stream_), cuda::success);
    EXPECT_NE(cu().ctx_synchronize(), cuda::success);
    channel_.reset();
    line(line_of_this_run).send("x", 1);
    ::_exit(HasFailure());
}

TEST_F(kernel_channel_test, DISABLED_submits_until_it_is_killed) {
    pinned_block const host(mib);
    device_block const block(mib);
    list_in_memory const list(64);
    std::vector<barmap::gpu::copy_piece> pieces;
    for (std::size_t i = 0; i < 64; ++i)
        pieces.push_back({host.address() + i * 4096, block.address() + i * 4096, 4096});
    list.set(pieces);
    for (bool is_first = true;; is_first = false) {
        launch("barmap_test_lists", channel_->queue(), list.pieces(), 1u, 64u, 1u, 0, failures());
        if (is_first)
            line(line_of_this_run).send("x", 1);
    }
}

TEST_F(kernel_channel_test, outlives_processes_whose_kernels_die) {
    pinned_block const host(mib);
    device_block const block(mib);
    list_in_memory const list(1);
    list.set({{host.address(), block.address(), 4096}});
    auto const expect_to_work = [&] {
        launch("barmap_test_lists", channel_->queue(), list.pieces(), 1u, 1u, 1u, 0, failures());
        expect_no_failure();
    };
    expect_to_work();
    char word = 0;
    for (std::size_t i = 0; i < rounds(2); ++i) {
        other_run traps("kernel_channel_test.DISABLED_is_used_by_a_kernel_that_traps");
        ASSERT_TRUE(traps.receive(&word, 1));
        EXPECT_EQ(traps.wait(), 0);
        expect_to_work();
        other_run submits("kernel_channel_test.DISABLED_submits_until_it_is_killed");
        ASSERT_TRUE(submits.receive(&word, 1));
        std::this_thread::sleep_for(std::chrono::milliseconds(i % 7));
        submits.kill();
        expect_to_work();
    }
}

class kernel_channel_peer_test : public peer_gpus {};

TEST_F(kernel_channel_peer_test, puts_and_gets_over_nvlink_byte_for_byte) {
    enable(0);
    device const gpu = device::open(0);
    kernel_queue queue(gpu);
    constexpr std::size_t size = 16 * mib, slot = 16384;
    auto const own = block_of(0, size), peer = block_of(1, size);
    list_in_memory const list(size / slot);
    std::mt19937_64 random(7);
    for (unsigned round = 0; round < rounds(20); ++round) {
        bool const puts = round % 2 == 0;
        std::uintptr_t const from = (puts ? own : peer)->address(),
                             to = (puts ? peer : own)->address();
        auto const sent = pattern(size, round);
        std::vector<std::byte> expected(size, std::byte{0x11}), seen(size);
        write_by_driver(from, sent.data(), size);
        write_by_driver(to, expected.data(), size);
        std::vector<copy_piece> const pieces = random_pieces(to, from, size, slot, random);
        copy_images(pieces, to, expected, from, sent);
        std::vector<barmap::gpu::copy_piece> same;
        for (copy_piece const& each : pieces)
            same.push_back({each.to, each.from, each.bytes});
        list.set(same);
        queue.enqueue(list.pieces(), list.count(), list.most(), 10s, nullptr);
        expect_success(cu().ctx_synchronize());
        queue.check();
        expect_success(cu().memcpy_dtoh(seen.data(), to, size));
        ASSERT_TRUE(seen == expected) << (puts ? "put" : "get");
    }
}

} // namespace
} // namespace barmap::gpu_test
