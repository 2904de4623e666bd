// SPDX-License-Identifier: MIT
#include "contract/access_hook.hpp"
#include "contract/numbered.hpp"

#include <barmap/byte_ring.hpp>
#include <barmap/mailbox.hpp>
#include <barmap/rpc.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

/// Mailboxes, with threads in the place of kernels.
namespace barmap::contract {
namespace {

using namespace std::chrono_literals;
using gpu::status;

using mailbox_test = contract_test;
using mailbox_thread_test = signalling_threads;

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

TEST_P(mailbox_test, mailboxes_hold_the_latest_value) {
    device const gpu = device::open(0);
    for (std::uint64_t const first : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 5,
                                      (std::uint64_t{1} << 63) - 5, ~std::uint64_t{0} - 4}) {
        expect_latest_value<numbered<1>>(gpu, first);
        expect_latest_value<numbered<4>>(gpu, first);
        expect_latest_value<numbered<19>>(gpu, first);
    }
}

TEST_P(mailbox_test, mailboxes_have_values_of_1_byte_to_1_MiB) {
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

    constexpr std::size_t most = std::size_t{1} << 20;
    arena const large(device::open(0), 8 * most, 8 * most);
    byte_ring_to_gpu ring(large, most, 1);
    byte_ring_to_cpu const back(large, most, 1);
    byte_mailbox_to_gpu box(large, most);
    byte_mailbox_to_cpu const state(large, most);
    std::vector<std::byte> const value(most);
    EXPECT_EQ(ring.push_many(value), 1u);
    box.write(value);
    EXPECT_EQ(box.version(), 1u);
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

TEST_P(mailbox_thread_test, values_of_mailboxes_are_whole_and_never_go_back) {
    device const gpu = device::open(0);
    expect_whole_values<numbered<1>>(gpu);
    expect_whole_values<numbered<5>>(gpu);
    expect_whole_values<numbered<25>>(gpu);
}

using several_pages = numbered<1800>;

// While a reader reads, three versions come, and of the one after them what was not read yet.
TEST_P(mailbox_test, a_value_that_is_overwritten_while_it_is_read_is_not_returned) {
    SKIP_WITHOUT_HOOK();
    device const gpu = device::open(0);
    arena const words(gpu, 1 << 20, 1 << 20);
    mailbox_to_gpu<several_pages> there(words);
    mailbox_to_cpu<several_pages> back(words);
    gpu::mailbox_writer<several_pages> writer(back.handle_for_thread());
    several_pages value{};

    gpu::word* slot = back.handle_for_thread().slots + gpu::slot_to_cpu<several_pages>::words;
    writer.write(several_pages::of(1));
    {
        access_hook hook;
        hook.at(slot + 1024, [&] {
            for (std::uint64_t i = 2; i < 5; ++i)
                writer.write(several_pages::of(i));
            slot[1700] = 0;
        });
        EXPECT_TRUE(back.read(value));
        EXPECT_EQ(value, several_pages::of(4));
    }

    slot = there.handle_for_thread().slots + gpu::slot_to_gpu<several_pages>::words;
    gpu::word const last = gpu::slot_to_gpu<several_pages>::words - 1;
    there.write(several_pages::of(1));
    gpu::mailbox_reader<several_pages> reader(there.handle_for_thread());
    access_hook hook;
    hook.at(slot + last, [&] { // the last commit word: the payload comes next
        hook.at(slot, [&] {
            for (std::uint64_t i = 2; i < 5; ++i)
                there.write(several_pages::of(i));
            slot[gpu::detail::place_of_word(1700, 1800)] = 0;
        });
    });
    EXPECT_EQ(reader.read(value), status::empty);
    EXPECT_EQ(value, several_pages::of(4)) << "unchanged";
    EXPECT_EQ(reader.read(value), status::ok);
    EXPECT_EQ(value, several_pages::of(4));
}

TEST_P(mailbox_test, nothing_behind_a_value_is_written) {
    arena const words(device::open(0), enough, enough);
    for (std::size_t const bytes : {1u, 5u, 13u}) {
        byte_mailbox_to_cpu box(words, bytes);
        gpu::mailbox_handle const to = box.handle_for_thread();
        std::size_t const slot_words = detail::slot_to_cpu_bytes(bytes) / 8;
        for (gpu::word i = 0; i + 1 < slot_words; ++i)
            to.slots[slot_words + i] = ~gpu::word{0};
        gpu::store_release(to.slots + 2 * slot_words - 1, 1);
        std::array<std::byte, 24> value{};
        EXPECT_TRUE(box.read(std::span(value).first(bytes)));
        for (std::size_t i = 0; i < value.size(); ++i)
            EXPECT_EQ(value[i], i < bytes ? std::byte{0xff} : std::byte{0}) << i;
    }
}

BARMAP_OVER_KINDS_OF_MEMORY(mailbox_test);
BARMAP_OVER_KINDS_OF_MEMORY(mailbox_thread_test);

} // namespace
} // namespace barmap::contract
