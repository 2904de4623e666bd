// SPDX-License-Identifier: MIT
#include "contract/access_hook.hpp"
#include "contract/numbered.hpp"

#include <barmap/rpc.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

/// Calls of the CPU, with threads in the place of kernels.
namespace barmap::contract {
namespace {

using namespace std::chrono_literals;
using gpu::status;

using rpc_test = contract_test;
using rpc_thread_test = signalling_threads;

using question = numbered<3>;
using answer = numbered<9>;
using server = rpc_to_cpu<question, answer>;

static_assert(!std::is_constructible_v<server, arena const&, std::size_t, std::uint64_t>);

TEST_P(rpc_thread_test, gpu_threads_call_the_cpu) {
    device const gpu = device::open(0);
    constexpr std::uint64_t threads = 4, each = 40;
    for (std::size_t const slots : {1u, 2u, 8u}) {
        SCOPED_TRACE(slots);
        arena const words(gpu, enough, enough);
        auto calls = detail::first_number::of<server>(words, slots, ~std::uint64_t{0} - 50);
        std::atomic<unsigned> wrong{0};
        std::vector<std::thread> kernel;
        for (std::uint64_t i = 0; i < threads; ++i)
            kernel.emplace_back([&, i, cpu = calls.handle_for_thread()] {
                for (std::uint64_t k = 0; k < each; ++k) {
                    answer found{};
                    wrong +=
                        gpu::call(cpu, question::of(i * 1000 + k), found, patience) != status::ok;
                    wrong += found != answer::of(i * 2000 + k * 2);
                }
            });
        for (std::uint64_t served = 0; served < threads * each;)
            if (calls.wait_for(60s))
                served += calls.try_serve([&](question const& asked) {
                    wrong += !asked.is_whole();
                    return answer::of(asked.words[0] * 2);
                });
        for (std::thread& one : kernel)
            one.join();
        EXPECT_EQ(wrong, 0u);
        EXPECT_FALSE(calls.wait_for(1ms));
    }
}

TEST_P(rpc_test, a_call_without_answer_occupies_its_slot_until_the_answer_comes) {
    device const gpu = device::open(0);
    rpc_to_cpu<question, answer> calls(gpu, 2);
    auto const cpu = calls.handle_for_thread();
    answer found = answer::of(5);
    EXPECT_EQ(gpu::call(cpu, question::of(1), found, 10), status::timed_out);
    EXPECT_EQ(gpu::call(cpu, question::of(2), found, 0), status::timed_out);
    EXPECT_EQ(gpu::call(cpu, question::of(3), found, 0), status::full);
    EXPECT_EQ(gpu::call(cpu, question::of(3), found, 10), status::timed_out) << "no slot";
    EXPECT_EQ(found, answer::of(5));
    auto const first = calls.try_take(), second = calls.try_take();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->request, question::of(1));
    EXPECT_EQ(second->request, question::of(2));
    EXPECT_FALSE(calls.try_take()) << "the CPU knows nothing of those without a slot";
    EXPECT_EQ(gpu::call(cpu, question::of(3), found, 0), status::full);
    calls.reply(second->number, answer::of(20));
    EXPECT_EQ(gpu::call(cpu, question::of(3), found, 0), status::full) << "slots go in turn";
    calls.reply(first->number, answer::of(10));
    EXPECT_EQ(gpu::call(cpu, question::of(3), found, 0), status::timed_out);
    auto const third = calls.try_take();
    ASSERT_TRUE(third);
    EXPECT_EQ(third->request, question::of(3));
    EXPECT_EQ(found, answer::of(5)) << "late answers are nobody's";
}

TEST_P(rpc_thread_test, one_thread_may_call_alone) {
    device const gpu = device::open(0);
    for (std::size_t const slots : {1u, 4u}) {
        rpc_to_cpu<question, answer> calls(gpu, slots);
        std::atomic<unsigned> wrong{0};
        std::thread kernel([&, cpu = calls.handle_for_thread()] {
            for (std::uint64_t round = 0; round < 3; ++round) {
                gpu::caller<question, answer> one(cpu);
                for (std::uint64_t k = 0; k < 20; ++k) {
                    answer found{};
                    wrong += one.call(question::of(k), found, patience) != status::ok;
                    wrong += found != answer::of(k * 2);
                }
            }
        });
        for (unsigned served = 0; served < 60;)
            if (calls.wait_for(60s))
                served += calls.try_serve(
                    [&](question const& asked) { return answer::of(asked.words[0] * 2); });
        kernel.join();
        EXPECT_EQ(wrong, 0u);
    }
}

TEST_P(rpc_test, who_calls_alone_waits_for_slots_that_were_left) {
    rpc_to_cpu<question, answer> calls(device::open(0), 2);
    gpu::caller<question, answer> one(calls.handle_for_thread());
    answer found = answer::of(5);
    EXPECT_EQ(one.call(question::of(1), found, 0), status::timed_out);
    EXPECT_EQ(one.call(question::of(2), found, 10), status::timed_out);
    EXPECT_EQ(one.call(question::of(3), found, 0), status::full);
    EXPECT_EQ(one.call(question::of(3), found, 10), status::timed_out);
    auto const first = calls.try_take(), second = calls.try_take();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(second->request, question::of(2));
    EXPECT_EQ(one.call(question::of(3), found, 0), status::full);
    calls.reply(first->number, answer::of(10));
    EXPECT_EQ(one.call(question::of(3), found, 0), status::timed_out) << "now there is a slot";
    EXPECT_EQ(found, answer::of(5));
    calls.close();
    EXPECT_EQ(one.call(question::of(4), found, patience), status::closed);
}

TEST_P(rpc_test, callers_are_told_that_nobody_serves) {
    rpc_to_cpu<question, answer> calls(device::open(0), 2);
    auto const cpu = calls.handle_for_thread();
    answer found{};
    calls.close();
    EXPECT_EQ(gpu::call(cpu, question::of(1), found, patience), status::closed);
    EXPECT_EQ(gpu::call(cpu, question::of(1), found, patience), status::closed);
    EXPECT_EQ(gpu::call(cpu, question::of(1), found, patience), status::closed) << "no slot";
}

TEST_P(rpc_test, an_answer_before_the_end_is_received) {
    SKIP_WITHOUT_HOOK();
    rpc_to_cpu<question, answer> calls(device::open(0), 2);
    auto cpu = calls.handle_for_thread();
    // The answer and the end come after a look for the answer, and before one at whether it is
    // closed.
    alignas(access_hook::page) static gpu::word control[access_hook::page / sizeof(gpu::word)];
    access_hook hook;
    hook.at(control, [&] {
        EXPECT_TRUE(calls.try_serve([](question const&) { return answer::of(2); }));
        control[gpu::rpc_words::closed_by_cpu] = 1;
    });
    cpu.control = control;
    answer found{};
    gpu::detail::time_limit const limit(patience);
    EXPECT_EQ(gpu::detail::make_call(cpu, 0, question::of(1), found, limit), status::ok);
    EXPECT_EQ(found, answer::of(2));
    EXPECT_EQ(gpu::detail::make_call(cpu, 1, question::of(1), found, limit), status::closed);
}

// A call without an answer would keep its slot for ever.
TEST_P(rpc_test, who_serves_may_throw) {
    rpc_to_cpu<question, answer> calls(device::open(0), 1);
    auto const cpu = calls.handle_for_thread();
    auto const refuse = [](question const&) -> answer { throw std::runtime_error("no"); };
    answer found{};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(gpu::call(cpu, question::of(1), found, 0), status::timed_out) << "there is a slot";
        EXPECT_THROW(calls.try_serve(refuse), std::runtime_error);
    }
    EXPECT_FALSE(calls.try_serve([](question const&) { return answer{}; }));
}

TEST_P(rpc_thread_test, callers_learn_that_who_serves_has_thrown) {
    rpc_to_cpu<question, answer> calls(device::open(0), 1);
    std::atomic<unsigned> wrong{0};
    std::thread kernel([&, cpu = calls.handle_for_thread()] {
        for (answer const& told : {answer{}, answer::of(77)}) {
            answer found = answer::of(5);
            wrong += gpu::call(cpu, question::of(1), found, patience) != status::ok;
            wrong += found != told;
        }
    });
    auto const refuse = [](question const&) -> answer { throw std::runtime_error("no"); };
    EXPECT_TRUE(calls.wait_for(60s));
    EXPECT_THROW(calls.try_serve(refuse), std::runtime_error);
    EXPECT_TRUE(calls.wait_for(60s));
    EXPECT_THROW(calls.try_serve(refuse, answer::of(77)), std::runtime_error);
    kernel.join();
    EXPECT_EQ(wrong, 0u);
}

// Memory of zeros is neither a call nor an answer, whatever the numbers are.
TEST_P(rpc_test, nothing_is_there_before_it_comes) {
    arena const words(device::open(0), enough, enough);
    auto calls = detail::first_number::of<server>(words, 2, ~std::uint64_t{0});
    answer found{};
    EXPECT_FALSE(calls.try_take());
    EXPECT_EQ(gpu::call(calls.handle_for_thread(), question::of(1), found, 10), status::timed_out);
}

TEST_P(rpc_test, slots_are_a_power_of_two) {
    arena const words(device::open(0), enough, enough);
    expect_refusal([&] { rpc_to_cpu<int, int> const calls(words, 3); }, errc::invalid_argument,
                   "a power of two");
}

BARMAP_OVER_KINDS_OF_MEMORY(rpc_test);
BARMAP_OVER_KINDS_OF_MEMORY(rpc_thread_test);

} // namespace
} // namespace barmap::contract
