// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/channel_queue.hpp"

#include "contract/batch_fixture.hpp"
#include "transfer/engine/patience.hpp"
#include "transfer/engine/spin.hpp"

#include <cstdint>
#include <limits>
#include <list>
#include <span>

/// One channel without the thread that watches it: what it promises at its end, and when it is
/// late.
namespace barmap::contract {
namespace {

using engine::direction;
using engine::state;
using engine::ticket;

constexpr auto ever = engine::device_clock::time_point::max();

/// A queue whose engine copies nothing until it is released. The devices' time passes by `pass`
/// alone.
struct channel_queue_test : testing::Test {
    engine_machine machine{"channel"};
    device gpu = device::open(0);
    device_block block{mib};
    pinned_block host{mib};
    engine::cuda_session session{identify(0)};
    cuda::context_scope const scope{session.context.get()};
    engine::channel_queue queue{session, own_engine};

    void SetUp() override { machine.gpu().hold(own_engine); }
    void TearDown() override { machine.gpu().release(); }

    void pass(std::chrono::nanoseconds time) { machine->kernel().run_for(time); }

    /// Gives a ticket of so many pieces of 4 bytes, said to have that many bytes.
    ticket give(std::size_t bytes, std::size_t count = 1, direction which = direction::to_cpu,
                engine::semaphore_word const& begin = {},
                engine::device_clock::time_point until = ever) {
        ticket const number = queue.next();
        std::vector<copy_piece> list;
        for (std::size_t i = 0; i < count; ++i)
            list.push_back({host.address() + i * 4, block.address() + i * 4, 4});
        auto spare = queue.make_spare(count, 1);
        queue.give(which, list, bytes, begin, until, spare);
        return number;
    }
    bool ends(ticket number) {
        return engine::spin([&] { return queue.poll(number) == state::done; }, [] { return false; },
                            std::chrono::steady_clock::now() + 20s) == engine::copy_outcome::done;
    }
    /// The word that streams wait for.
    [[nodiscard]] std::uint32_t word() const {
        std::uint32_t result = 0;
        auto const bytes = read_by_driver(queue.semaphore_on_gpu(), sizeof result);
        std::memcpy(&result, bytes.data(), sizeof result);
        return result;
    }
    bool is_late_after(std::chrono::nanoseconds time) {
        queue.watch(); // time counts from the first look
        pass(time);
        queue.watch();
        return queue.is_in_trouble();
    }
};

TEST_F(channel_queue_test, a_ticket_that_comes_after_the_end_fails_and_releases_its_stream) {
    machine.gpu().release();
    ASSERT_TRUE(ends(give(4)));
    open_stream stream;
    ticket const number = queue.next();
    expect_success(cuda::api().stream_wait_value32(stream.get(), queue.semaphore_on_gpu(),
                                                   static_cast<std::uint32_t>(number),
                                                   cuda::wait_value_geq));
    ASSERT_TRUE(queue.stop()); // as the watcher does while the stream's wait is being enqueued
    EXPECT_EQ(word(), number - 1);
    EXPECT_FALSE(stream.is_idle());
    EXPECT_EQ(give(4), number);
    EXPECT_EQ(word(), number);
    EXPECT_EQ(queue.poll(number), state::failed);
    EXPECT_EQ(queue.poll(number - 1), state::done);
    EXPECT_TRUE(queue.is_idle());
    EXPECT_FALSE(queue.has_waiting());
    if (word() == number) // else it would wait for ever
        stream.synchronize();
    else
        expect_success(cuda::api().memset_d32_async(
            queue.semaphore_on_gpu(), static_cast<std::uint32_t>(number), 1, nullptr));
}

// What a long list lacks room for, too.
TEST_F(channel_queue_test, the_end_fails_what_waits_for_room_and_releases_its_streams) {
    ticket last = 0;
    while (!queue.has_waiting())
        last = give(4, engine::command_ring::most_pieces);
    ticket const first = give(4);
    EXPECT_EQ(first, last + 1) << "behind what waits";
    ASSERT_TRUE(queue.stop());
    EXPECT_EQ(word(), first);
    for (ticket each = 1; each <= first; ++each)
        EXPECT_EQ(queue.poll(each), state::failed) << each;
    EXPECT_FALSE(queue.has_waiting());
    EXPECT_FALSE(queue.feed());
    EXPECT_EQ(queue.poll(first + 1), state::never_given);
    EXPECT_EQ(give(4), first + 1);
    EXPECT_EQ(word(), first + 1);
    EXPECT_EQ(queue.poll(first + 1), state::failed);
}

TEST_F(channel_queue_test, a_small_ticket_is_late_after_the_usual_patience) {
    (void)give(4);
    EXPECT_FALSE(is_late_after(engine::usual_patience - 5ms));
    pass(10ms);
    queue.watch();
    EXPECT_TRUE(queue.is_in_trouble());
    EXPECT_EQ(queue.trouble(), "a batch did not end in time");
}

TEST_F(channel_queue_test, a_large_ticket_has_the_time_of_its_bytes) {
    constexpr std::size_t bytes = std::size_t{4} << 30;
    static_assert(engine::longest_time_of(bytes) > 10s);
    (void)give(bytes);
    EXPECT_FALSE(is_late_after(engine::longest_time_of(bytes)));
    pass(engine::usual_patience + 5ms);
    queue.watch();
    EXPECT_TRUE(queue.is_in_trouble());
}

TEST_F(channel_queue_test, a_ticket_of_many_pieces_has_a_microsecond_for_each) {
    constexpr std::size_t most = engine::command_ring::most_pieces; // 4 ms
    (void)give(most * 4, most);
    EXPECT_FALSE(is_late_after(engine::usual_patience + 3ms));
    pass(3ms);
    queue.watch();
    EXPECT_TRUE(queue.is_in_trouble());
}

TEST_F(channel_queue_test, time_counts_from_when_the_ticket_is_the_oldest) {
    ticket const first = give(4), second = give(4);
    EXPECT_FALSE(is_late_after(engine::usual_patience - 10ms));
    machine.gpu().release();
    ASSERT_TRUE(ends(second));
    machine.gpu().hold(own_engine);
    EXPECT_EQ(queue.poll(first), state::done);
    (void)give(4);
    EXPECT_FALSE(is_late_after(engine::usual_patience - 10ms));
    EXPECT_TRUE(is_late_after(20ms));
}

// The time in which its stream does not come is not the copy's: not before, and not afterwards.
TEST_F(channel_queue_test, time_behind_a_stream_is_not_time_of_the_copy) {
    gated_stream stream;
    engine::semaphore_word const begin = queue.word_of(queue.next());
    expect_success(queue.let_begin(stream.get(), begin));
    (void)give(4, 1, direction::to_cpu, begin);
    EXPECT_FALSE(is_late_after(1h));
    stream.open();
    stream.synchronize();
    EXPECT_FALSE(is_late_after(engine::usual_patience - 10ms));
    EXPECT_TRUE(is_late_after(20ms));
    EXPECT_EQ(queue.trouble(), "a batch did not end in time");
}

TEST_F(channel_queue_test, a_stream_is_late_at_its_own_limit) {
    gated_stream stream;
    engine::semaphore_word const begin = queue.word_of(queue.next());
    expect_success(queue.let_begin(stream.get(), begin));
    (void)give(4, 1, direction::to_cpu, begin, engine::device_clock::now() + 1s);
    EXPECT_FALSE(is_late_after(990ms));
    EXPECT_TRUE(is_late_after(20ms));
    EXPECT_EQ(queue.trouble(), "a batch waited for its stream longer than its at_most");
    stream.open();
    stream.synchronize();
}

TEST_F(channel_queue_test, an_error_of_the_driver_is_trouble_at_once) {
    machine.gpu().fail_next();
    (void)give(std::size_t{4} << 30); // not late before the driver reports
    machine.gpu().release();
    EXPECT_TRUE(engine::spin(
                    [&] {
                        queue.watch();
                        return queue.is_in_trouble();
                    },
                    [] { return false; },
                    std::chrono::steady_clock::now() + 20s) == engine::copy_outcome::done);
    EXPECT_NE(queue.trouble().find("error 31"), std::string::npos) << queue.trouble();
}

TEST_F(channel_queue_test, says_what_it_copies_now) {
    constexpr std::size_t bulk_bytes = mib, bulk_pieces = 1024;
    EXPECT_FALSE(queue.is_copying(direction::to_cpu));
    EXPECT_FALSE(queue.is_copying_bulk());
    EXPECT_TRUE(queue.is_idle());
    struct {
        std::size_t bytes, pieces;
        bool is_bulk;
    } const cases[] = {
        {bulk_bytes - 1, bulk_pieces - 1, false}, {bulk_bytes, 1, true}, {4, bulk_pieces, true}};
    for (auto const& each : cases) {
        ticket const number = give(each.bytes, each.pieces);
        EXPECT_TRUE(queue.is_copying(direction::to_cpu));
        EXPECT_FALSE(queue.is_copying(direction::to_gpu));
        EXPECT_EQ(queue.is_copying_bulk(), each.is_bulk) << each.bytes << " " << each.pieces;
        EXPECT_FALSE(queue.is_idle());
        EXPECT_EQ(queue.poll(number), state::in_flight);
        machine.gpu().release();
        ASSERT_TRUE(ends(number));
        EXPECT_FALSE(queue.is_copying(direction::to_cpu)) << "it is done";
        EXPECT_FALSE(queue.is_copying_bulk());
        EXPECT_TRUE(queue.is_idle());
        machine.gpu().hold(own_engine);
    }
}

TEST_F(channel_queue_test, does_not_copy_while_it_waits_for_a_stream) {
    gated_stream stream;
    machine.gpu().release();
    engine::semaphore_word const begin = queue.word_of(queue.next());
    expect_success(queue.let_begin(stream.get(), begin));
    ticket const number = give(mib, 1, direction::to_cpu, begin);
    EXPECT_FALSE(queue.is_copying(direction::to_cpu));
    EXPECT_FALSE(queue.is_copying_bulk());
    EXPECT_FALSE(queue.is_idle());
    stream.open();
    ASSERT_TRUE(ends(number));
}

TEST_F(channel_queue_test, takes_no_more_than_may_wait) {
    constexpr std::size_t most = engine::channel_queue::most_waiting;
    EXPECT_TRUE(queue.may_take(2 * most, 600)) << "where nothing waits";
    while (!queue.has_waiting())
        (void)give(4, engine::command_ring::most_pieces);
    std::size_t const waits = engine::command_ring::most_pieces + 1;
    EXPECT_TRUE(queue.may_take(most - waits, 1));
    EXPECT_FALSE(queue.may_take(most - waits + 1, 1));
    std::size_t const given = queue.next() - 1;
    EXPECT_TRUE(queue.may_take(1, engine::channel_queue::most_tickets - given - 1));
    EXPECT_FALSE(queue.may_take(1, engine::channel_queue::most_tickets - given));
    ASSERT_TRUE(queue.stop());
}

} // namespace
} // namespace barmap::contract
