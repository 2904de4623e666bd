// SPDX-License-Identifier: MIT
#include "contract/numbered.hpp"

#include <barmap/gpu/block_ring.cuh>
#include <barmap/ring.hpp>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>

/// Rings that whole blocks read and fill, with a thread in the place of a block.
namespace barmap::contract {
namespace {

using gpu::status;

using block_ring_thread_test = signalling_threads;

TEST_P(block_ring_thread_test, blocks_move_large_messages) {
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

using block_ring_test = contract_test;

/// Bytes that need no alignment: the last word is not whole.
template <class Message>
void expect_blocks_to_move(device const& gpu) {
    SCOPED_TRACE(sizeof(Message));
    ring_to_gpu<Message> there(gpu, 2);
    ring_to_cpu<Message> back(gpu, 2);
    gpu::block_consumer<Message> requests(there.handle_for_thread());
    gpu::block_producer<Message> answers(back.handle_for_thread());
    for (unsigned i = 0; i < 5; ++i) {
        struct {
            Message message;
            unsigned char behind = 0x5a;
        } found{};
        Message sent{}, answer{};
        auto* const bytes = reinterpret_cast<unsigned char*>(&sent);
        for (std::size_t k = 0; k < sizeof sent; ++k)
            bytes[k] = static_cast<unsigned char>(200 + 3 * k + i);
        EXPECT_TRUE(there.try_push(sent));
        there.flush();
        EXPECT_EQ(requests.pop(found.message), status::ok);
        EXPECT_EQ(std::memcmp(&found.message, &sent, sizeof sent), 0);
        EXPECT_EQ(found.behind, 0x5a) << "nothing behind the message is written";
        EXPECT_EQ(answers.push(sent), status::ok);
        EXPECT_TRUE(back.try_pop(answer));
        EXPECT_EQ(std::memcmp(&answer, &sent, sizeof sent), 0);
    }
}

TEST_P(block_ring_test, messages_may_have_any_size_and_alignment) {
    device const gpu = device::open(0);
    expect_blocks_to_move<std::array<unsigned char, 1>>(gpu);
    expect_blocks_to_move<std::array<unsigned char, 8>>(gpu);
    expect_blocks_to_move<std::array<unsigned char, 13>>(gpu);
    expect_blocks_to_move<std::array<std::uint32_t, 9>>(gpu);
    expect_blocks_to_move<std::array<unsigned char, 57>>(gpu);
    expect_blocks_to_move<std::array<std::uint64_t, 7>>(gpu);
}

BARMAP_OVER_KINDS_OF_MEMORY(block_ring_test);
BARMAP_OVER_KINDS_OF_MEMORY(block_ring_thread_test);

} // namespace
} // namespace barmap::contract
