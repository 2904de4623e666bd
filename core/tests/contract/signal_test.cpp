// SPDX-License-Identifier: MIT
#include "contract/cpu_side.hpp"

#include <barmap/counter.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

/// Counters, with threads in the place of kernels.
namespace barmap::contract {
namespace {

using namespace std::chrono_literals;
using gpu::status;

using signal_test = with_either_side<contract_test>;
using signal_thread_test = with_either_side<signalling_threads>;

TEST_P(signal_test, counters_say_how_far_the_other_side_is) {
    arena const words(device::open(0), enough, enough);
    for (std::uint64_t const first : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 2,
                                      (std::uint64_t{1} << 63) - 2, ~std::uint64_t{0} - 1}) {
        SCOPED_TRACE(first);
        cpu_side<counter_to_gpu> there(words, first);
        cpu_side<counter_to_cpu> back(words, first);
        gpu::counter_to_gpu const in = there.handle_for_thread();
        gpu::counter_to_cpu const out = back.handle_for_thread();
        for (std::uint64_t i = first + 1; i != first + 5; ++i) {
            EXPECT_EQ(gpu::wait_for(in, i), status::empty);
            EXPECT_EQ(gpu::wait_for(in, i, 100), status::timed_out);
            there.advance(i);
            EXPECT_EQ(there.value(), i);
            EXPECT_EQ(gpu::value_of(in), i);
            EXPECT_EQ(gpu::wait_for(in, i), status::ok);
            EXPECT_EQ(gpu::wait_for(in, first), status::ok) << "it is past that";

            EXPECT_FALSE(back.is_at_least(i));
            EXPECT_FALSE(back.wait_for(i, 1ms));
            gpu::advance(out, i);
            EXPECT_EQ(back.value(), i);
            EXPECT_TRUE(back.wait_for(i, 1h) && back.wait_for(first, 1h));
        }
    }
}

TEST_P(signal_thread_test, what_was_written_before_a_counter_is_seen_after_it) {
    device const gpu = device::open(0);
    arena const words(gpu, enough, enough);
    cpu_side<counter_to_gpu> there(words);
    cpu_side<counter_to_cpu> back(words);
    arena::part const data = words.take_gpu(sizeof(gpu::word)),
                      host = words.take_host(sizeof(gpu::word));
    auto* const in_gpu = reinterpret_cast<gpu::word*>(data.data());
    auto* const in_host = reinterpret_cast<gpu::word*>(host.data());
    std::atomic<unsigned> wrong{0};
    constexpr std::uint64_t rounds = 300;
    std::thread kernel([&, in = there.handle_for_thread(), out = back.handle_for_thread()] {
        for (std::uint64_t i = 1; i <= rounds; ++i) {
            wrong += gpu::wait_for(in, i, patience) != status::ok;
            wrong += gpu::load_relaxed(in_gpu) != i * 3;
            gpu::store_relaxed(in_host, i * 7);
            gpu::advance(out, i);
        }
    });
    for (std::uint64_t i = 1; i <= rounds; ++i) {
        write_value(data.window(), i * 3);
        there.advance(i);
        wrong += !back.wait_for(i, 60s);
        wrong += gpu::load_relaxed(in_host) != i * 7;
    }
    kernel.join();
    EXPECT_EQ(wrong, 0u);
}

TEST_P(signal_thread_test, the_last_of_many_to_arrive_advances_the_counter) {
    arena const words(device::open(0), enough, enough);
    constexpr std::uint64_t threads = 4, rounds = 50;
    cpu_side<counter_to_cpu> done(words, ~std::uint64_t{0} - 20);
    std::array<std::atomic<std::uint64_t>, threads> reached{};
    std::atomic<std::uint64_t> last{0};
    std::vector<std::thread> blocks;
    for (std::uint64_t i = 0; i < threads; ++i)
        blocks.emplace_back([&, i, out = done.handle_for_thread()] {
            for (std::uint64_t k = 1; k <= rounds; ++k) {
                reached[i].store(k, std::memory_order_relaxed);
                last += gpu::arrive(out, threads);
                while (static_cast<std::int64_t>(gpu::load_acquire(out.value) - (out.first + k)) < 0)
                    std::this_thread::yield();
            }
        });
    for (std::uint64_t k = 1; k <= rounds; ++k) {
        ASSERT_TRUE(done.wait_for(k + (~std::uint64_t{0} - 20), 60s));
        for (auto const& each : reached)
            EXPECT_GE(each.load(std::memory_order_relaxed), k);
    }
    for (std::thread& each : blocks)
        each.join();
    EXPECT_EQ(last, rounds);
    EXPECT_EQ(done.value(), ~std::uint64_t{0} - 20 + rounds);
}

TEST(look_until_test, looks_once_more_after_the_time_and_waits_however_long) {
    unsigned looks = 0;
    EXPECT_TRUE(detail::look_until([&] { return ++looks == 65; }, 0ns)) << "after 64 of them";
    looks = 0;
    EXPECT_FALSE(detail::look_until([&] { return ++looks == 66; }, 0ns));
    looks = 0;
    EXPECT_TRUE(
        detail::look_until([&] { return ++looks == 1000; }, std::chrono::nanoseconds::max()));
}

TEST_P(signal_test, streams_wait_for_words_and_store_them) {
    arena const words(device::open(0), enough, enough);
    cpu_side<counter_to_gpu> there(words, 5);
    cpu_side<counter_to_cpu> back(words, 5);
    constexpr unsigned non_blocking = 1;
    CUstream stream = nullptr;
    ASSERT_EQ(cu().stream_create(&stream, non_blocking), cuda::success);
    for (std::uint64_t round = 1; round <= 3; ++round) {
        there.wait(stream, 5 + round);
        back.record(stream, 5 + round);
        EXPECT_FALSE(back.wait_for(5 + round, 20ms));
        there.advance(5 + round);
        EXPECT_TRUE(back.wait_for(5 + round, 60s));
    }
    EXPECT_EQ(cu().stream_synchronize(stream), cuda::success);
    EXPECT_EQ(cu().stream_destroy(stream), cuda::success);
}

TEST_P(signal_test, a_stream_that_is_none_is_refused_by_cuda) {
    arena const words(device::open(0), enough, enough);
    cpu_side<counter_to_cpu> const back(words);
    int nothing[64] = {};
    constexpr int invalid_handle = 400;
    EXPECT_EQ(refusal_of([&] { back.record(nothing, 1); }).code,
              std::error_code(invalid_handle, cuda_category()));
}

BARMAP_OVER_SIDES(signal_test);
BARMAP_OVER_SIDES(signal_thread_test);

} // namespace
} // namespace barmap::contract
