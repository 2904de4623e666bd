// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"

#include <barmap/gpu/block_ring.cuh>
#include <barmap/mailbox.hpp>
#include <barmap/rpc.hpp>
#include <barmap/signal.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

/// Counters, flags, mailboxes, calls and what blocks read, with threads in the place of kernels.
namespace barmap::contract {
namespace {

using namespace std::chrono_literals;
using gpu::status;

constexpr gpu::word many_looks = 2'000'000'000;

/// A value that knows whether it is whole.
template <std::size_t Words>
struct numbered {
    std::array<std::uint64_t, Words> words;

    static numbered of(std::uint64_t number) {
        numbered result;
        for (std::size_t i = 0; i < Words; ++i)
            result.words[i] = number + i * i;
        return result;
    }
    [[nodiscard]] bool is_whole() const { return *this == of(words[0]); }
    bool operator==(numbered const&) const = default;
};

using signal_test = contract_test;

class signal_thread_test : public contract_test {
protected:
    void SetUp() override {
        contract_test::SetUp();
#if defined(__SANITIZE_THREAD__)
        if (name_of(GetParam()) != "dmabuf")
            GTEST_SKIP() << "ThreadSanitizer does not know the order of stores through a mapping";
#endif
    }
};

constexpr std::size_t enough = 1 << 16;

TEST_P(signal_test, counters_say_how_far_the_other_side_is) {
    arena const words(device::open(0), enough, enough);
    for (std::uint64_t const first : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 2,
                                      (std::uint64_t{1} << 63) - 2, ~std::uint64_t{0} - 1}) {
        SCOPED_TRACE(first);
        counter_to_gpu there(words, first);
        counter_to_cpu back(words, first);
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
    counter_to_gpu there(words);
    counter_to_cpu back(words);
    arena::part const data = words.take_gpu(sizeof(gpu::word)),
                      host = words.take_host(sizeof(gpu::word));
    auto* const in_gpu = reinterpret_cast<gpu::word*>(data.data());
    auto* const in_host = reinterpret_cast<gpu::word*>(host.data());
    std::atomic<unsigned> wrong{0};
    constexpr std::uint64_t rounds = 300;
    std::thread kernel([&, in = there.handle_for_thread(), out = back.handle_for_thread()] {
        for (std::uint64_t i = 1; i <= rounds; ++i) {
            wrong += gpu::wait_for(in, i, many_looks) != status::ok;
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
    counter_to_cpu done(words, ~std::uint64_t{0} - 20);
    std::array<std::atomic<std::uint64_t>, threads> reached{};
    std::atomic<std::uint64_t> last{0};
    std::vector<std::thread> blocks;
    for (std::uint64_t i = 0; i < threads; ++i)
        blocks.emplace_back([&, i, out = done.handle_for_thread()] {
            for (std::uint64_t k = 1; k <= rounds; ++k) {
                reached[i].store(k, std::memory_order_relaxed);
                last += gpu::arrive(out, threads);
                while (!done.is_at_least(out.first + k))
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

TEST_P(signal_test, flags_are_lowered_by_whoever_waits) {
    arena const words(device::open(0), enough, enough);
    flag_to_gpu go(words);
    flag_to_cpu done(words);
    gpu::flag_to_gpu const in = go.handle_for_thread();
    gpu::flag_to_cpu const out = done.handle_for_thread();
    for (unsigned i = 0; i < 3; ++i) {
        EXPECT_EQ(gpu::wait_for(in), status::empty);
        EXPECT_EQ(gpu::wait_for(in, 100), status::timed_out);
        go.raise();
        go.raise();
        EXPECT_EQ(gpu::wait_for(in), status::ok);
        EXPECT_FALSE(done.is_raised() || done.wait_for(1ms));
        gpu::raise(out);
        EXPECT_TRUE(done.wait_for(1h) && done.is_raised());
        done.lower();
    }
}

TEST_P(signal_test, streams_wait_for_words_and_store_them) {
    arena const words(device::open(0), enough, enough);
    counter_to_gpu there(words, 5);
    counter_to_cpu back(words, 5);
    flag_to_gpu go(words);
    flag_to_cpu done(words);
    constexpr unsigned non_blocking = 1;
    CUstream stream = nullptr;
    ASSERT_EQ(cu().stream_create(&stream, non_blocking), cuda::success);
    for (std::uint64_t round = 1; round <= 3; ++round) {
        there.wait(stream, 5 + round);
        back.record(stream, 5 + round);
        go.wait(stream);
        done.record(stream);
        EXPECT_FALSE(back.wait_for(5 + round, 20ms));
        there.advance(5 + round);
        EXPECT_TRUE(back.wait_for(5 + round, 60s));
        EXPECT_FALSE(done.wait_for(20ms));
        go.raise();
        EXPECT_TRUE(done.wait_for(60s));
        done.lower();
    }
    EXPECT_EQ(cu().stream_synchronize(stream), cuda::success);
    EXPECT_EQ(gpu::wait_for(go.handle_for_thread()), status::empty) << "the stream has lowered it";
    EXPECT_EQ(cu().stream_destroy(stream), cuda::success);
}

TEST_P(signal_test, a_stream_that_is_none_is_refused_by_cuda) {
    arena const words(device::open(0), enough, enough);
    counter_to_cpu const back(words);
    int nothing[64] = {};
    constexpr int invalid_handle = 400;
    EXPECT_EQ(refusal_of([&] { back.record(nothing, 1); }).code,
              std::error_code(invalid_handle, cuda_category()));
}

template <class Value>
void expect_latest_value(device const& gpu, std::uint64_t first) {
    SCOPED_TRACE(testing::Message() << sizeof(Value) << " bytes from " << first);
    arena const words(gpu, enough, enough);
    mailbox_to_gpu<Value> there(words, first);
    mailbox_to_cpu<Value> back(words, first);
    Value value = Value::of(77);
    gpu::mailbox_reader<Value> reader(there.handle_for_thread());
    EXPECT_EQ(reader.read(value), status::empty);
    EXPECT_EQ(reader.read(value, 10), status::timed_out);
    EXPECT_FALSE(back.read(value) || back.wait_for(1ms));
    EXPECT_EQ(value, Value::of(77));
    for (std::uint64_t i = 1; i < 20; ++i) {
        there.write(Value::of(i));
        gpu::mailbox_writer<Value>(back.handle_for_thread()).write(Value::of(i * 2));
        EXPECT_EQ(there.version(), first + i);
        if (i % 3 == 0)
            continue;
        EXPECT_EQ(reader.read(value), status::ok);
        EXPECT_EQ(value, Value::of(i));
        EXPECT_EQ(reader.version(), first + i);
        EXPECT_EQ(reader.read(value), status::empty) << "nothing is new";
        gpu::mailbox_reader<Value> other(there.handle_for_thread());
        EXPECT_EQ(other.read(value), status::ok) << "of another kernel";
        EXPECT_EQ(value, Value::of(i));
        EXPECT_TRUE(back.wait_for(1h) && back.read(value));
        EXPECT_EQ(value, Value::of(i * 2));
        EXPECT_EQ(back.version(), first + i);
        EXPECT_FALSE(back.read(value));
    }
}

TEST_P(signal_test, mailboxes_hold_the_latest_value) {
    device const gpu = device::open(0);
    for (std::uint64_t const first : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 5,
                                      (std::uint64_t{1} << 63) - 5, ~std::uint64_t{0} - 4}) {
        expect_latest_value<numbered<1>>(gpu, first);
        expect_latest_value<numbered<4>>(gpu, first);
        expect_latest_value<numbered<19>>(gpu, first);
    }
}

TEST_P(signal_test, mailboxes_have_values_of_1_byte_to_1_MiB) {
    arena const words(device::open(0), enough, enough);
    for (std::size_t const bytes : {std::size_t{0}, (std::size_t{1} << 20) + 1}) {
        expect_refusal(refusal_of([&] { byte_mailbox_to_gpu const box(words, bytes); }),
                       errc::invalid_argument, "1 byte to 1 MiB");
        expect_refusal(refusal_of([&] { byte_mailbox_to_cpu const box(words, bytes); }),
                       errc::invalid_argument, "1 byte to 1 MiB");
        expect_refusal(refusal_of([&] { byte_ring_to_gpu const ring(words, bytes, 4); }),
                       errc::invalid_argument, "1 byte to 1 MiB");
        expect_refusal(refusal_of([&] { byte_ring_to_cpu const ring(words, bytes, 4); }),
                       errc::invalid_argument, "1 byte to 1 MiB");
    }
    expect_refusal(refusal_of([&] { rpc_to_cpu<int, int> const calls(words, 3); }),
                   errc::invalid_argument, "a power of two");
}

template <class Value>
void expect_whole_values(device const& gpu) {
    SCOPED_TRACE(sizeof(Value));
    arena const words(gpu, enough, enough);
    mailbox_to_gpu<Value> there(words);
    mailbox_to_cpu<Value> back(words);
    std::atomic<unsigned> wrong{0};
    constexpr std::uint64_t rounds = 3000;
    std::thread kernel([&, in = there.handle_for_thread(), out = back.handle_for_thread()] {
        gpu::mailbox_reader<Value> reader(in);
        gpu::mailbox_writer<Value> writer(out);
        Value value{};
        std::uint64_t last = 0;
        for (std::uint64_t i = 1; last != rounds && i < 1'000'000'000; ++i) {
            writer.write(Value::of(i));
            if (reader.read(value) != status::ok)
                continue;
            wrong += !value.is_whole() || value.words[0] <= last;
            last = value.words[0];
        }
        wrong += last != rounds;
    });
    Value value{};
    std::uint64_t last = 0;
    for (std::uint64_t i = 1; i <= rounds; ++i) {
        there.write(Value::of(i));
        if (back.read(value)) {
            wrong += !value.is_whole() || value.words[0] <= last;
            last = value.words[0];
        }
    }
    kernel.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_TRUE(last != 0 || back.read(value));
}

TEST_P(signal_thread_test, values_of_mailboxes_are_whole_and_never_go_back) {
    device const gpu = device::open(0);
    expect_whole_values<numbered<1>>(gpu);
    expect_whole_values<numbered<5>>(gpu);
    expect_whole_values<numbered<25>>(gpu);
}

using question = numbered<3>;
using answer = numbered<9>;

TEST_P(signal_thread_test, gpu_threads_call_the_cpu) {
    device const gpu = device::open(0);
    constexpr std::uint64_t threads = 4, each = 100;
    for (std::size_t const slots : {1u, 2u, 8u}) {
        SCOPED_TRACE(slots);
        arena const words(gpu, enough, enough);
        rpc_to_cpu<question, answer> calls(words, slots, ~std::uint64_t{0} - 50);
        std::atomic<unsigned> wrong{0};
        std::vector<std::thread> kernel;
        for (std::uint64_t i = 0; i < threads; ++i)
            kernel.emplace_back([&, i, cpu = calls.handle_for_thread()] {
                for (std::uint64_t k = 0; k < each; ++k) {
                    answer found{};
                    wrong += gpu::call(cpu, question::of(i * 1000 + k), found, many_looks) !=
                        status::ok;
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

TEST_P(signal_test, a_call_without_answer_occupies_its_slot_until_the_answer_comes) {
    device const gpu = device::open(0);
    rpc_to_cpu<question, answer> calls(gpu, 2);
    auto const cpu = calls.handle_for_thread();
    answer found = answer::of(5);
    question asked{};
    std::uint64_t first = 0, second = 0, third = 0;
    EXPECT_EQ(gpu::call(cpu, question::of(1), found, 10), status::timed_out);
    EXPECT_EQ(gpu::call(cpu, question::of(2), found, 0), status::timed_out);
    EXPECT_EQ(gpu::call(cpu, question::of(3), found, 0), status::full);
    EXPECT_EQ(gpu::call(cpu, question::of(3), found, 10), status::timed_out) << "no slot";
    EXPECT_EQ(found, answer::of(5));
    EXPECT_TRUE(calls.try_take(asked, first));
    EXPECT_EQ(asked, question::of(1));
    EXPECT_TRUE(calls.try_take(asked, second));
    EXPECT_EQ(asked, question::of(2));
    EXPECT_FALSE(calls.try_take(asked, third)) << "the CPU knows nothing of those without a slot";
    EXPECT_EQ(gpu::call(cpu, question::of(3), found, 0), status::full);
    calls.reply(second, answer::of(20));
    EXPECT_EQ(gpu::call(cpu, question::of(3), found, 0), status::full) << "slots go in turn";
    calls.reply(first, answer::of(10));
    EXPECT_EQ(gpu::call(cpu, question::of(3), found, 0), status::timed_out);
    EXPECT_TRUE(calls.try_take(asked, third));
    EXPECT_EQ(asked, question::of(3));
    EXPECT_EQ(found, answer::of(5)) << "late answers are nobody's";
}

TEST_P(signal_test, callers_are_told_that_nobody_serves) {
    rpc_to_cpu<question, answer> calls(device::open(0), 2);
    auto const cpu = calls.handle_for_thread();
    answer found{};
    calls.close();
    EXPECT_EQ(gpu::call(cpu, question::of(1), found, many_looks), status::closed);
    EXPECT_EQ(gpu::call(cpu, question::of(1), found, many_looks), status::closed);
    EXPECT_EQ(gpu::call(cpu, question::of(1), found, many_looks), status::closed) << "no slot";
}

TEST_P(signal_test, who_serves_may_throw) {
    rpc_to_cpu<question, answer> calls(device::open(0), 2);
    answer found{};
    EXPECT_EQ(gpu::call(calls.handle_for_thread(), question::of(1), found, 0), status::timed_out);
    EXPECT_THROW(calls.try_serve([](question const&) -> answer { throw std::runtime_error("no"); }),
                 std::runtime_error);
    EXPECT_FALSE(calls.try_serve([](question const&) { return answer{}; }));
}

TEST_P(signal_thread_test, the_cpu_calls_gpu_code) {
    device const gpu = device::open(0);
    for (std::size_t const slots : {1u, 8u}) {
        rpc_to_gpu<question, answer> calls(gpu, slots);
        std::atomic<unsigned> wrong{0};
        std::thread kernel([&, handle = calls.handle_for_thread()] {
            gpu::server<question, answer> server(handle);
            question asked{};
            status got;
            while ((got = server.take(asked, many_looks)) == status::ok)
                wrong += server.reply(answer::of(asked.words[0] * 3), many_looks) != status::ok;
            wrong += got != status::closed;
        });
        answer found{};
        for (std::uint64_t i = 0; i < 200; ++i) {
            wrong += !calls.call(question::of(i), found, 60s);
            wrong += found != answer::of(i * 3);
        }
        std::uint64_t sent = 0;
        while (calls.try_send(question::of(1000 + sent)))
            ++sent;
        EXPECT_EQ(calls.under_way(), slots);
        for (std::uint64_t i = 0; i < sent;)
            if (calls.try_receive(found))
                wrong += found != answer::of((1000 + i++) * 3);
        calls.close();
        kernel.join();
        EXPECT_EQ(sent, slots);
        EXPECT_EQ(wrong, 0u);
    }
}

TEST_P(signal_test, an_answer_that_comes_late_is_nobodys) {
    rpc_to_gpu<question, answer> calls(device::open(0), 4);
    answer found = answer::of(1);
    EXPECT_FALSE(calls.call(question::of(10), found, 1ms));
    EXPECT_TRUE(calls.try_send(question::of(11)));
    gpu::server<question, answer> server(calls.handle_for_thread());
    question asked{};
    for (std::uint64_t i = 10; i < 12; ++i) {
        EXPECT_EQ(server.take(asked), status::ok);
        EXPECT_EQ(server.reply(answer::of(i)), status::ok);
    }
    EXPECT_FALSE(calls.call(question::of(12), found, 1ms)) << "those are not its own";
    EXPECT_EQ(server.take(asked), status::ok);
    EXPECT_EQ(asked, question::of(12));
    EXPECT_EQ(calls.under_way(), 1u);
}

TEST_P(signal_thread_test, blocks_move_large_messages) {
    device const gpu = device::open(0);
    using message = numbered<300>; // 43 lines
    ring_to_gpu<message> there(gpu, 4);
    ring_to_cpu<message> back(gpu, 4);
    std::atomic<unsigned> wrong{0};
    constexpr std::uint64_t count = 100;
    std::thread kernel([&, in = there.handle_for_thread(), out = back.handle_for_thread()] {
        gpu::block_consumer<message> requests(in);
        gpu::block_producer<message> answers(out);
        message value{};
        std::uint64_t number = 0;
        status got;
        for (; (got = requests.pop(value, many_looks)) == status::ok; ++number) {
            wrong += value != message::of(number);
            wrong += answers.push(value, many_looks) != status::ok;
        }
        wrong += got != status::closed || number != count || requests.number() != count;
        wrong += requests.pop(value) != status::closed;
        answers.close();
    });
    std::uint64_t sent = 0;
    message value{};
    for (std::uint64_t received = 0; received < count;) {
        if (sent < count && there.try_push(message::of(sent)))
            ++sent;
        there.flush();
        while (back.try_pop(value))
            wrong += value != message::of(received++);
    }
    there.close();
    kernel.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_TRUE(back.closed());
}

/// As rings, these ask for nothing of their memory but how the CPU caches it.
std::vector<way> ways_of_each_kind() {
    std::vector<way> result;
    for (way const& each : all_ways())
        if (std::string const name = name_of(each);
            name == "dmabuf" || name == "rm_580" || name == "gdrdrv_2_6")
            result.push_back(each);
    return result;
}

INSTANTIATE_TEST_SUITE_P(ways, signal_test, testing::ValuesIn(ways_of_each_kind()),
                         [](auto const& info) { return name_of(info.param); });
INSTANTIATE_TEST_SUITE_P(ways, signal_thread_test, testing::ValuesIn(ways_of_each_kind()),
                         [](auto const& info) { return name_of(info.param); });

} // namespace
} // namespace barmap::contract
