// SPDX-License-Identifier: MIT
#include "real_gpu.hpp"
#include "signal_messages.hpp"
#include "test_kernels.hpp"

#include <barmap/counter.hpp>
#include <barmap/ring.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

/// What core/tests/contract tries with threads, with kernels of a GPU.
namespace barmap::gpu_test {
namespace {

using namespace std::chrono_literals;
using gpu::word;

constexpr std::size_t page = 4096;
/// Where counters begin: numbers that wrap in the middle of a test as well.
constexpr word firsts[] = {0, (word{1} << 32) - 50, (word{1} << 63) - 50, ~word{0} - 50};

word* on_gpu(arena::part const& part) {
    return reinterpret_cast<word*>(part.gpu_address());
}

using signal_test = real_gpu;

TEST_F(signal_test, what_was_written_before_a_counter_is_seen_after_it) {
    test_kernels kernels;
    arena const words(device::open(0), page, page);
    arena::part const data = words.take_gpu(sizeof(word)), host = words.take_host(sizeof(word));
    auto* const in_host = reinterpret_cast<word*>(host.data());
    for (word const first : firsts) {
        SCOPED_TRACE(first);
        counter_to_gpu there(words, first);
        counter_to_cpu back(words, first);
        word const count = rounds(100'000);
        kernels.launch("barmap_test_counters", 1, there.handle(), back.handle(), first, count,
                       on_gpu(data), on_gpu(host), kernels.wrong());
        word wrong_here = 0;
        for (word i = 1; i <= count; ++i) {
            write_value(data.window(), i * 3);
            there.advance(first + i);
            ASSERT_TRUE(back.wait_for(first + i, 10s)) << i;
            wrong_here += gpu::load_relaxed(in_host) != i * 7;
        }
        EXPECT_EQ(wrong_here, 0u);
        kernels.expect_nothing_wrong();
    }
}

TEST_F(signal_test, the_last_block_to_arrive_advances_the_counter) {
    constexpr unsigned blocks = 64;
    test_kernels kernels;
    arena const words(device::open(0), page, page);
    arena::part const host = words.take_host(blocks * sizeof(word));
    auto* const in_host = reinterpret_cast<word*>(host.data());
    std::fill_n(in_host, blocks, 0);
    counter_to_gpu go(words);
    counter_to_cpu done(words, ~word{0} - 50);
    word const count = rounds(20'000);
    kernels.launch("barmap_test_arrivals", blocks, go.handle(), done.handle(), count, on_gpu(host),
                   kernels.wrong());
    word wrong_here = 0;
    for (word i = 1; i <= count; ++i) {
        ASSERT_TRUE(done.wait_for(~word{0} - 50 + i, 10s)) << i;
        for (unsigned k = 0; k < blocks; ++k)
            wrong_here += gpu::load_relaxed(in_host + k) != i;
        go.advance(i);
    }
    EXPECT_EQ(wrong_here, 0u);
    kernels.expect_nothing_wrong();
}

TEST_F(signal_test, streams_wait_for_words_and_store_them) {
    test_kernels kernels;
    arena const words(device::open(0), page, page);
    for (word const first : firsts) {
        SCOPED_TRACE(first);
        counter_to_gpu there(words, first);
        counter_to_cpu back(words, first);
        for (word i = 1; i <= rounds(200); ++i) {
            there.wait(kernels.stream(), first + i);
            back.record(kernels.stream(), first + i);
            EXPECT_FALSE(i % 50 == 1 && back.wait_for(first + i, 2ms));
            there.advance(first + i);
            ASSERT_TRUE(back.wait_for(first + i, 10s)) << i;
        }
        expect_success(cu().stream_synchronize(kernels.stream()));
    }
}

TEST_F(signal_test, a_ring_goes_on_in_each_replay_of_a_graph) {
    test_kernels kernels;
    auto const begin_capture = reinterpret_cast<CUresult (*)(CUstream, int)>(
        dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuStreamBeginCapture_v2"));
    auto const end_capture = reinterpret_cast<CUresult (*)(CUstream, CUgraph*)>(
        dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuStreamEndCapture"));
    ASSERT_TRUE(begin_capture && end_capture);
    device const gpu = device::open(0);
    ring_to_gpu<reading> in(gpu, 8);
    ring_to_cpu<reading> out(gpu, 8);
    constexpr int thread_local_mode = 1;
    expect_success(begin_capture(kernels.stream(), thread_local_mode));
    kernels.launch("barmap_test_step", 1, in.handle(), out.handle(), kernels.wrong());
    CUgraph graph = nullptr;
    CUgraphExec ready = nullptr;
    expect_success(end_capture(kernels.stream(), &graph));
    expect_success(cu().graph_instantiate(&ready, graph, 0));
    word wrong_here = 0;
    for (word i = 0; i < rounds(10'000); ++i) {
        expect_success(cu().graph_launch(ready, kernels.stream()));
        ASSERT_TRUE(in.try_push(reading_of(i * 5)));
        in.flush();
        ASSERT_TRUE(out.wait_for(10s)) << i;
        auto const found = out.try_pop();
        ASSERT_TRUE(found) << i;
        wrong_here += !is_whole(*found) || found->words[0] != i * 5 + 1;
    }
    EXPECT_EQ(wrong_here, 0u);
    kernels.expect_nothing_wrong();
    cu().graph_exec_destroy(ready);
    cu().graph_destroy(graph);
}

TEST_F(signal_test, two_gpus_at_once) {
    if (count() < 2)
        GTEST_SKIP() << "one GPU only";
    struct side {
        test_kernels kernels;
        ring_to_gpu<reading> in;
        ring_to_cpu<reading> out;
        explicit side(int ordinal) : in(device::open(ordinal), 8), out(device::open(ordinal), 8) {}
    };
    std::vector<std::unique_ptr<side>> sides;
    std::vector<std::thread> threads;
    std::atomic<word> wrong_here{0};
    for (unsigned i = 0; i < 2; ++i) {
        use(static_cast<int>(i));
        sides.push_back(std::make_unique<side>(static_cast<int>(i)));
        side& each = *sides.back();
        each.kernels.launch("barmap_test_server", 1, each.in.handle(), each.out.handle(),
                            each.kernels.wrong());
        threads.emplace_back([&each, &wrong_here, i] {
            for (word k = i; k < rounds(50'000); ++k) {
                bool const sent = each.in.try_push(reading_of(k));
                each.in.flush();
                bool const is_there = each.out.wait_for(10s);
                auto const found = each.out.try_pop();
                wrong_here +=
                    !sent || !is_there || !found || !is_whole(*found) || found->words[0] != k * 3;
            }
            each.in.close();
        });
    }
    for (unsigned i = 0; i < 2; ++i) {
        threads[i].join();
        use(static_cast<int>(i));
        sides[i]->kernels.expect_nothing_wrong();
        sides[i].reset();
    }
    EXPECT_EQ(wrong_here, 0u);
}

TEST_F(signal_test, a_message_of_a_kernel_that_was_killed_is_none) {
    testing::FLAGS_gtest_death_test_style = "threadsafe"; // a new process: its context is lost
    EXPECT_EXIT(
        {
            use(0);
            auto* const kernels = new test_kernels;
            ring_to_cpu<reading> ring(device::open(0), 8);
            kernels->launch("barmap_test_killed", 1, ring.handle());
            bool const is_there = ring.wait_for(10s);
            auto const found = ring.try_pop();
            bool const first = is_there && found && is_whole(*found);
            bool const lost = cu().stream_synchronize(kernels->stream()) != cuda::success;
            bool const second = ring.wait_for(10ms) || ring.try_pop();
            std::fprintf(stderr, "first %d lost %d second %d", first, lost, second);
            std::exit(0);
        },
        testing::ExitedWithCode(0), "^first 1 lost 1 second 0$");
}

// What the simulated GPU does too.
TEST_F(signal_test, a_kernel_of_another_context_than_its_stream_is_refused) {
    test_kernels kernels;
    CUfunction function = nullptr;
    CUmodule module = nullptr;
    CUcontext other = nullptr;
    expect_success(cu().ctx_create(&other, 0, 0));
    expect_success(cu().module_load_data(&module, ptx::signal_kernels));
    expect_success(cu().module_get_function(&function, module, "barmap_test_counters"));
    std::array<word, 8> nothing{};
    std::array<void*, 7> parameters{};
    for (std::size_t i = 0; i < parameters.size(); ++i)
        parameters[i] = &nothing[i];
    constexpr int invalid_handle = 400;
    EXPECT_EQ(cu().launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, kernels.stream(), parameters.data(),
                                 nullptr),
              invalid_handle);
    expect_success(cu().ctx_destroy(other));
    use(0);
}

TEST_F(signal_test, pushes_to_a_destroyed_context_change_nothing) {
    device const gpu = device::open(0);
    CUcontext context = nullptr;
    expect_success(cu().ctx_create(&context, 0, 0));
    auto in = std::make_unique<ring_to_gpu<reading>>(gpu, 8);
    auto out = std::make_unique<ring_to_cpu<reading>>(gpu, 8);
    auto words = std::make_unique<arena>(gpu, page, page);
    counter_to_gpu there(*words);
    expect_success(cu().ctx_destroy(context));
    use(0);
    for (word i = 0; i < 8; ++i)
        EXPECT_TRUE(in->try_push(reading_of(i)));
    in->flush();
    EXPECT_FALSE(in->try_push(reading_of(8))) << "nobody reads them";
    there.advance(1);
    in->close();
    in.reset();
    out.reset();
    device_block const after(page);
    expect_same_memory(gpu.pin(after.address(), page).map(), after.address(), 11);
}

} // namespace
} // namespace barmap::gpu_test
