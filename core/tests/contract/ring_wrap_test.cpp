// SPDX-License-Identifier: MIT
#include "contract/numbered.hpp"
#include "contract/sealed.hpp"

#include <barmap/gpu/ring.cuh>
#include <barmap/ring.hpp>

#include <cstdint>

/// Rings whose numbers wrap, both sides in one thread.
namespace barmap::contract {
namespace {

using gpu::status;
using ring_wrap_test = contract_test;

/// Where numbers begin: in a ring of 4 slots, at 0 or just before they wrap.
constexpr std::uint64_t greatest = ~std::uint64_t{0}, half = std::uint64_t{1} << 32;
constexpr std::uint64_t beginnings[]{
    0, greatest, greatest - 1, greatest - 3, greatest - 5, greatest / 2 - 1, half - 2};

template <class Message>
void expect_empty_slots(arena const& words, std::uint64_t first) {
    SCOPED_TRACE(testing::Message() << sizeof(Message) << " bytes, from " << first);
    auto there = detail::first_number::of<ring_to_gpu<Message>>(words, 4, first);
    auto back = detail::first_number::of<ring_to_cpu<Message>>(words, 4, first);
    gpu::consumer<Message> in(there.handle_for_thread());
    gpu::producer<Message> out(back.handle_for_thread());
    for (std::uint64_t i = 0; i < 10; ++i) { // each slot of the first lap, and those of the next
        Message value{};
        EXPECT_EQ(in.pop(value), status::empty) << i;
        EXPECT_FALSE(back.try_pop()) << i;
        EXPECT_TRUE(there.try_push(Message::of(i)));
        there.flush();
        EXPECT_EQ(in.pop(value), status::ok);
        EXPECT_EQ(value, Message::of(i));
        EXPECT_EQ(out.push(value), status::ok);
        EXPECT_EQ(back.try_pop(), Message::of(i));
    }
}

TEST_P(ring_wrap_test, no_slot_of_a_new_ring_holds_a_message_wherever_numbers_begin) {
    device const gpu = device::open(0);
    arena const words(gpu, enough, enough);
    for (std::uint64_t const first : beginnings) {
        expect_empty_slots<sealed<8>>(words, first);
        expect_empty_slots<sealed<24>>(words, first);
        expect_empty_slots<sealed<150>>(words, first);
    }
}

TEST_P(ring_wrap_test, threads_that_push_find_all_the_room_there_is_wherever_numbers_begin) {
    device const gpu = device::open(0);
    arena const words(gpu, enough, enough);
    for (std::uint64_t const first : beginnings) {
        SCOPED_TRACE(first);
        auto ring = detail::first_number::of<ring_to_cpu<int>>(words, 4, first);
        for (int lap = 0; lap < 3; ++lap) {
            for (int i = 0; i < 4; ++i)
                EXPECT_EQ(gpu::push(ring.handle_for_thread(), lap * 4 + i), status::ok) << i;
            EXPECT_EQ(gpu::push(ring.handle_for_thread(), 0), status::full);
            for (int i = 0; i < 4; ++i)
                EXPECT_EQ(ring.try_pop(), lap * 4 + i);
        }
    }
}

BARMAP_OVER_KINDS_OF_MEMORY(ring_wrap_test);

} // namespace
} // namespace barmap::contract
