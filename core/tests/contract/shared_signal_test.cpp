// SPDX-License-Identifier: MIT
#include "contract/sealed.hpp"
#include "contract/ways_that_share.hpp"
#include "system/fd.hpp"

#include <barmap/counter.hpp>
#include <barmap/ring.hpp>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// Rings and counters that are opened by a descriptor: where whoever opens them goes on. That the
/// same rules hold in two processes is for ring_test and signal_test to say.
namespace barmap::contract {
namespace {

using namespace std::chrono_literals;
using gpu::status;
using gpu::word;

using shared_signal_test = contract_test;

constexpr std::size_t room = 1 << 18;

template <class Signal>
std::remove_const_t<Signal> opened(Signal& of) {
    return Signal::open_shared(os::fd(of.share()).get());
}

template <std::size_t Bytes>
void expect_to_go_on(device const& gpu, std::size_t slots, std::uint64_t first) {
    SCOPED_TRACE(testing::Message() << Bytes << " bytes, " << slots << " slots, from " << first);
    using message = sealed<Bytes>;
    arena const memory(gpu, room, room);
    auto ring = detail::first_number::of<ring_to_gpu<message>>(memory, slots, first);
    gpu::consumer<message> in(ring.handle_for_thread());
    message value{};
    std::uint64_t pushed = first, popped = first;
    for (std::size_t step = 0; step < 3 * slots + 3; ++step) {
        auto next = opened(ring);
        EXPECT_EQ(next.number(), pushed);
        EXPECT_EQ(next.slots(), slots);
        for (std::size_t i = 0; i < step % (slots + 1) && next.try_push(message::of(pushed)); ++i)
            ++pushed;
        next.flush();
        EXPECT_EQ(next.number(), pushed);
        for (std::size_t i = 0; i <= step % 3 && popped != pushed; ++i, ++popped) {
            EXPECT_EQ(in.pop(value), status::ok);
            EXPECT_EQ(value, message::of(popped));
        }
    }
    EXPECT_NE(popped, first);
}

TEST_P(shared_signal_test, a_producer_goes_on_behind_the_last_message) {
    device const gpu = device::open(0);
    for (std::uint64_t const first : {std::uint64_t{0}, ~std::uint64_t{0} - 5}) {
        for (std::size_t const slots : {1u, 4u, 16u}) {
            expect_to_go_on<8>(gpu, slots, first);
            expect_to_go_on<32>(gpu, slots, first);
            expect_to_go_on<56>(gpu, slots, first);
            expect_to_go_on<200>(gpu, slots, first);
        }
    }
}

/// What a producer that was killed leaves in the next slot: its first commit words, and of pairs
/// all of the message.
template <std::size_t Bytes>
void begin_message(gpu::ring_to_gpu<sealed<Bytes>> const& ring, word number, word commits) {
    using slot = gpu::slot_to_gpu<sealed<Bytes>>;
    word* const at = ring.slots + (number & ring.mask) * slot::words;
    word payload[slot::payload_words] = {};
    auto const message = sealed<Bytes>::of(number);
    std::memcpy(payload, &message, sizeof message);
    for (word i = 0; i < slot::payload_words; ++i)
        if (slot::is_in_pairs || i / gpu::layout_to_gpu::line_payload < commits)
            at[gpu::detail::place_of_word(i, slot::payload_words)] = payload[i];
    for (word i = 0; i < commits; ++i)
        at[gpu::detail::place_of_commit(i, slot::payload_words)] = number + 1;
}

template <std::size_t Bytes>
void expect_mended(device const& gpu) {
    using message = sealed<Bytes>;
    using slot = gpu::slot_to_gpu<message>;
    for (std::uint64_t before : {0u, 3u, 6u})
        for (word commits = 1; commits < slot::commits; ++commits) {
            SCOPED_TRACE(testing::Message() << Bytes << " bytes, message " << before << ", "
                                            << commits << " commit words");
            ring_to_gpu<message> ring(gpu, 4);
            gpu::consumer<message> in(ring.handle_for_thread());
            message value{};
            for (std::uint64_t i = 0; i < before; ++i) {
                ASSERT_TRUE(ring.try_push(message::of(i)));
                ring.flush();
                ASSERT_EQ(in.pop(value), status::ok);
            }
            begin_message(ring.handle_for_thread(), before, commits);
            auto next = opened(ring);
            std::uint64_t pushed = before + (slot::is_in_pairs ? 1 : 0);
            EXPECT_EQ(next.number(), pushed) << "pairs are there, lines are not";
            for (std::uint64_t i = before; i < pushed; ++i) {
                EXPECT_EQ(in.pop(value), status::ok);
                EXPECT_EQ(value, message::of(i));
            }
            EXPECT_EQ(in.pop(value), status::empty);
            for (int i = 0; i < 6; ++i, ++pushed) {
                // Another message than the one that was begun.
                ASSERT_TRUE(next.try_push(message::of(pushed + 100)));
                next.flush();
                EXPECT_EQ(in.pop(value), status::ok);
                EXPECT_EQ(value, message::of(pushed + 100));
            }
        }
}

TEST_P(shared_signal_test, half_a_message_of_a_killed_producer_is_none_or_whole) {
    device const gpu = device::open(0);
    expect_mended<16>(gpu);
    expect_mended<32>(gpu);
    expect_mended<57>(gpu);
    expect_mended<200>(gpu);
}

// Two of its lines come, and a reader looks at them, before the producer is killed. Whatever it saw
// of them, it must not take them for lines of the next message, whose last one commits.
TEST_P(shared_signal_test, lines_of_a_killed_producer_are_not_read_as_those_of_the_next) {
    device const gpu = device::open(0);
    using message = sealed<150>; // three lines
    ring_to_gpu<message> ring(gpu, 4);
    auto const handle = ring.handle_for_thread();
    begin_message(handle, 0, 2);
    auto next = opened(ring);
    for (word line = 0; line < 3; ++line)
        EXPECT_EQ(handle.slots[line * 8 + 7], word{0} + 1 - 4) << "as a lap before";
    ASSERT_TRUE(next.try_push(message::of(7)));
    next.flush();
    gpu::consumer<message> in(handle);
    message value{};
    EXPECT_EQ(in.pop(value), status::ok);
    EXPECT_EQ(value, message::of(7));
}

TEST_P(shared_signal_test, a_full_ring_stays_full) {
    ring_to_gpu<int> ring(device::open(0), 4);
    for (int i = 0; i < 4; ++i)
        ASSERT_TRUE(ring.try_push(i));
    auto next = opened(ring);
    EXPECT_EQ(next.depth(), 4u);
    EXPECT_FALSE(next.try_push(4) || next.wait_for(1ms));
    gpu::consumer<int> in(ring.handle_for_thread());
    int value = 9;
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(in.pop(value), status::ok);
        EXPECT_EQ(value, i);
    }
    EXPECT_EQ(in.pop(value), status::empty); // and the credits are back
    EXPECT_TRUE(next.wait_for(1ms) && next.try_push(4));
}

TEST_P(shared_signal_test, a_consumer_that_has_ended_leaves_nothing_to_be_read_twice) {
    ring_to_cpu<std::uint64_t> ring(device::open(0), 16);
    gpu::producer<std::uint64_t> out(ring.handle_for_thread());
    std::uint64_t pushed = 0, popped = 0;
    for (unsigned step = 0; step < 40; ++step) {
        while (out.push(pushed) == status::ok)
            ++pushed;
        auto next = opened(ring);
        EXPECT_EQ(next.number(), popped);
        EXPECT_EQ(next.depth(), pushed - popped);
        for (unsigned i = 0; i < step % 7; ++i)
            EXPECT_EQ(next.try_pop(), popped++);
    }
    EXPECT_EQ(out.push(pushed), status::ok) << "all credits have come back";
}

TEST_P(shared_signal_test, what_the_owner_has_read_is_not_read_again) {
    ring_to_cpu<std::uint64_t> ring(device::open(0), 16);
    gpu::producer<std::uint64_t> out(ring.handle_for_thread());
    for (std::uint64_t i = 0; i < 3; ++i)
        ASSERT_EQ(out.push(i), status::ok);
    EXPECT_EQ(ring.try_pop(), 0u);
    auto next = opened(ring);
    EXPECT_EQ(next.try_pop(), 1u);
    EXPECT_EQ(next.try_pop(), 2u);
    EXPECT_EQ(next.number(), 3u);
}

TEST_P(shared_signal_test, a_killed_consumer_may_have_read_a_quarter_that_is_read_again) {
    ring_to_cpu<std::uint64_t> ring(device::open(0), 16);
    gpu::producer<std::uint64_t> out(ring.handle_for_thread());
    for (std::uint64_t i = 0; i < 12; ++i)
        ASSERT_EQ(out.push(i), status::ok);
    auto killed = opened(ring); // whose end comes later than that of the next one
    for (std::uint64_t i = 0; i < 7; ++i)
        EXPECT_EQ(killed.try_pop(), i);
    {
        auto next = opened(ring);
        for (std::uint64_t i = 4; i < 12; ++i)
            EXPECT_EQ(next.try_pop(), i);
    }
}

TEST_P(shared_signal_test, both_sides_are_told_of_the_end_by_whichever_process_says_it) {
    device const gpu = device::open(0);
    ring_to_gpu<int> there(gpu, 4);
    ring_to_cpu<int> back(gpu, 4);
    auto far_there = opened(there);
    auto far_back = opened(back);
    gpu::consumer<int> in(there.handle_for_thread());
    gpu::producer<int> out(back.handle_for_thread());
    ASSERT_TRUE(far_there.try_push(1));
    far_there.flush();
    there.close(); // for a producer that died
    int value = 0;
    EXPECT_EQ(in.pop(value, 1'000'000'000), status::ok);
    EXPECT_EQ(in.pop(value, 1'000'000'000), status::closed);
    in.close();
    EXPECT_TRUE(far_there.closed() && there.closed());
    back.close();
    for (int i = 0; i < 4; ++i)
        ASSERT_EQ(out.push(i), status::ok);
    EXPECT_EQ(out.push(4, 1'000'000'000), status::closed);
    out.close();
    EXPECT_TRUE(far_back.closed());
    EXPECT_EQ(far_back.try_pop(), 0);
}

TEST_P(shared_signal_test, counters_go_on_at_their_numbers) {
    arena const memory(device::open(0), room, room);
    counter_to_gpu go(memory, 5);
    counter_to_cpu done(memory, 7);
    go.advance(6);
    gpu::advance(done.handle_for_thread(), 9);
    auto far_go = opened(go);
    auto far_done = opened(done);
    EXPECT_EQ(far_go.value(), 6u);
    EXPECT_EQ(far_done.value(), 9u);
    far_go.advance(8);
    EXPECT_EQ(gpu::value_of(go.handle_for_thread()), 8u);
    EXPECT_EQ(opened(go).value(), 8u);
    EXPECT_EQ(far_done.handle_for_thread().first, 7u);
    EXPECT_TRUE(gpu::arrive(far_done.handle_for_thread(), 1)) << "the count of arrivals is shared";
    EXPECT_FALSE(gpu::arrive(done.handle_for_thread(), 3));
    EXPECT_FALSE(far_done.wait_for(10, 1ms));
    gpu::advance(done.handle_for_thread(), 10);
    EXPECT_TRUE(far_done.wait_for(10, 60s));
}

TEST_P(shared_signal_test, an_opened_one_has_no_gpu) {
    arena const memory(device::open(0), room, room);
    counter_to_gpu const go(memory);
    counter_to_cpu const done(memory);
    auto const far_go = opened(go);
    auto const far_done = opened(done);
    expect_refusal([&] { far_go.wait(nullptr, 1); }, errc::unsupported_operation, "stream",
                   "the process that made the counter");
    expect_refusal([&] { far_done.record(nullptr, 1); }, errc::unsupported_operation, "stream",
                   "the process that made the counter");
    ring_to_gpu<int> ring(memory, 4);
    EXPECT_NE(ring.handle().slots, nullptr);
    EXPECT_EQ(opened(ring).handle().slots, nullptr);
    EXPECT_EQ(far_go.handle().value, nullptr);
}

TEST_P(shared_signal_test, it_outlives_its_owner_and_can_be_shared_on) {
    auto const before = the_machine().held();
    {
        os::fd there, back;
        {
            device const gpu = device::open(0);
            ring_to_gpu<int> first(gpu, 4);
            ring_to_cpu<int> second(gpu, 4);
            there = os::fd(first.share());
            back = os::fd(second.share());
        } // freed, and the device closed
        auto far = ring_to_gpu<int>::open_shared(there.get());
        for (int i = 0; i < 4; ++i)
            EXPECT_TRUE(far.try_push(i));
        EXPECT_FALSE(far.wait_for(1ms)) << "nobody reads them";
        auto further = opened(far);
        EXPECT_EQ(further.number(), 4u);
        gpu::consumer<int> in(further.handle_for_thread());
        int value = 9;
        EXPECT_EQ(in.pop(value), status::ok);
        EXPECT_EQ(value, 0);
        EXPECT_FALSE(ring_to_cpu<int>::open_shared(back.get()).wait_for(1ms));
    }
    EXPECT_EQ(the_machine().held(), before);
}

INSTANTIATE_TEST_SUITE_P(ways, shared_signal_test, over(ways_that_share()),
                         [](auto const& info) { return name_of(info.param); });

} // namespace
} // namespace barmap::contract
