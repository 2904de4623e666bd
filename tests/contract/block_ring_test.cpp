// SPDX-License-Identifier: MIT
#include "contract/numbered.hpp"

#include <barmap/gpu/block_ring.cuh>
#include <barmap/ring.hpp>

#include <atomic>
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

BARMAP_OVER_KINDS_OF_MEMORY(block_ring_thread_test);

} // namespace
} // namespace barmap::contract
