// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "transfer/engine/channel/command_ring.hpp"

/// What waits for a channel's room, for its stream, or for its end.
namespace barmap::contract {
namespace {

// CUDA keeps the caller in a call for a stream that has too much to do, until the stream goes on:
// here, when the long list that it waits for is done.
TEST(batch_waiting_test, a_submission_inside_a_call_of_cuda_does_not_stop_the_feeding) {
    engine_machine machine("channel");
    batch_program p;
    static batch_program* program;
    static batch_ticket first;
    static bool was_done;
    program = &p;
    open_stream stream;
    std::vector<copy_piece> const list(90'000, {p.host.address(), p.block.address(), 1});
    first = p.queue.submit(list, {}, then{stream.get()});
    changed_driver full;
    full->stream_wait_value32 = [](CUstream of, CUdeviceptr at, unsigned value, unsigned how) {
        was_done = program->queue.wait(first, 60s);
        return changed_driver::real.stream_wait_value32(of, at, value, how);
    };
    batch_ticket const second = p.queue.submit(p.pieces(3, 100), {}, then{stream.get()});
    full.restore();
    EXPECT_TRUE(was_done);
    p.expect_done(second);
}

// More batches behind one stream than it has words for.
TEST(batch_waiting_test, more_batches_than_words_for_their_streams_wait_for_room) {
    engine_machine machine("channel");
    batch_program p;
    gated_stream held;
    constexpr std::size_t most = 8192;
    std::vector<copy_piece> const one{{p.host.address(), p.block.address(), 1}};
    std::atomic<std::size_t> submitted = 0;
    std::vector<batch_ticket> tickets(most + 500);
    std::thread submitter([&] {
        for (batch_ticket& each : tickets) {
            each = p.queue.submit(one, after{held.get()});
            ++submitted;
        }
    });
    while (submitted < most - 1)
        std::this_thread::yield();
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(submitted, most - 1);
    held.open();
    submitter.join();
    for (batch_ticket const each : tickets)
        p.expect_done(each);
}

// A stream that is late is not taken for memory that is not mapped.
TEST(batch_waiting_test, a_report_says_that_a_stream_was_late) {
    engine_machine machine("channel");
    batch_program p;
    gated_stream held;
    batch_ticket const late = p.queue.submit(p.pieces(5, 100), after{held.get(), 1ms});
    EXPECT_THROW((void)p.queue.wait(late, 20s), error);
    held.open();
    for (int i = 0; i < 2; ++i) {
        held.close();
        batch_ticket const again = p.queue.submit(p.pieces(5, 100), after{held.get(), 1ms});
        EXPECT_THROW((void)p.queue.wait(again, 20s), error);
        held.open();
    }
    EXPECT_THROW((void)p.queue.submit(p.pieces(5, 100)), error);
    EXPECT_NE(p.report("channel").reason.find("longer than its at_most"), std::string::npos)
        << p.report("channel").reason;
}

// Long lists wait in host memory for room, and the submitter does not.
TEST(batch_waiting_test, a_list_longer_than_the_ring_does_not_stand_in_the_caller) {
    engine_machine machine("channel");
    batch_program p;
    auto const sent = pattern(batch_program::size, 3);
    write_by_driver(p.block.address(), sent);
    gated_stream held;
    open_stream behind;
    // Every byte once, in no order, so that each piece counts.
    std::vector<copy_piece> list;
    constexpr std::size_t count = 80'000, bytes = 5;
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t const at = i * 7'777 % count * bytes;
        list.push_back({p.host.address() + at, p.block.address() + at, bytes});
    }
    batch_ticket first{}, second{}, third{};
    ASSERT_TRUE(returns([&] {
        first = p.queue.submit(list, after{held.get()}, then{behind.get()});
        second = p.queue.submit(std::span(list).first(40'000), after{held.get()});
        third = p.queue.submit({}, after{held.get()}, then{behind.get()});
    }));
    EXPECT_FALSE(p.queue.wait(first, 20ms));
    EXPECT_FALSE(behind.is_idle());
    p.expect_done(p.queue.submit(std::span(list).first(3))); // another queue's
    std::memset(p.host.bytes().data(), 0, 64);
    held.open();
    p.expect_done(first);
    EXPECT_TRUE(std::equal(sent.begin(), sent.begin() + count * bytes, p.host.bytes().begin()));
    p.expect_done(third);
    p.expect_done(second);
    behind.synchronize();
    // Behind each other without a stream, and the engine goes with what waits.
    std::memset(p.host.bytes().data(), 0, batch_program::size);
    first = p.queue.submit(list);
    second = p.queue.submit(list);
    p.expect_done(second);
    EXPECT_TRUE(p.queue.done(first));
    EXPECT_TRUE(std::equal(sent.begin(), sent.begin() + count * bytes, p.host.bytes().begin()));
}

// Longer than all that may wait: taken where nothing waits, also where something has waited before.
TEST(batch_waiting_test, a_list_longer_than_all_room_is_taken_where_nothing_waits) {
    engine_machine machine("channel");
    batch_program p;
    p.expect_to_work(1);
    std::vector<copy_piece> const list(1'100'000, {p.block.address(), p.host.address(), 1});
    batch_ticket ticket{};
    auto const is_taken = [&](std::size_t pieces) {
        return returns([&] { ticket = p.queue.submit(std::span(list).first(pieces)); });
    };
    machine.gpu().hold(own_engine);
    bool const is_short_one_taken = is_taken(100'000);
    machine.gpu().release();
    ASSERT_TRUE(is_short_one_taken);
    p.expect_done(ticket);

    machine.gpu().hold(own_engine);
    bool const is_long_one_taken = is_taken(list.size());
    machine.gpu().stall(); // its million copies would take the fake engine a minute
    machine.gpu().release();
    ASSERT_TRUE(is_long_one_taken);
    EXPECT_THROW((void)p.queue.wait(ticket, 20s), error);
    machine.gpu().resume();
}

TEST(batch_waiting_test, what_waits_for_room_fails_with_its_channel) {
    engine_machine machine("channel");
    batch_program p;
    p.expect_to_work(1);
    machine.gpu().hold(own_engine); // until both are submitted, the first must not be late
    std::vector<copy_piece> const list(150'000, {p.host.address(), p.block.address(), 1});
    batch_ticket const first = p.queue.submit(list), second = p.queue.submit(list);
    machine.gpu().stall();
    machine.gpu().release();
    for (batch_ticket const each : {first, second})
        EXPECT_THROW((void)p.queue.wait(each, 20s), error);
    machine.gpu().resume();
    p.expect_to_work(2);
}

// What is done when its channel fails stays done, up to the last of them.
TEST(batch_waiting_test, the_last_batch_before_a_failure_stays_done) {
    engine_machine machine("channel");
    batch_program p;
    std::vector<batch_ticket> tickets;
    for (int i = 0; i < 5; ++i)
        tickets.push_back(p.queue.submit(p.pieces(3, 100)));
    p.expect_done(tickets.back());
    machine.gpu().stall();
    batch_ticket const bad = p.queue.submit(p.pieces(3, 100));
    EXPECT_THROW((void)p.queue.wait(bad, 20s), error);
    for (batch_ticket const each : tickets)
        EXPECT_TRUE(p.queue.done(each));
    machine.gpu().resume();
}

// Behind long work a batch waits; only its own limit fails it, and only once it is its turn.
TEST(batch_waiting_test, a_limit_does_not_fail_what_is_behind_long_work) {
    engine_machine machine("channel");
    batch_program p;
    gated_stream held;
    auto const list = p.pieces(5, 100);
    batch_ticket const patient = p.queue.submit(list, after{held.get()});
    held.close();
    batch_ticket const behind = p.queue.submit(list, after{held.get(), 1ms});
    EXPECT_FALSE(p.queue.wait(behind, 200ms)) << "the batch before it still waits";
    EXPECT_FALSE(p.queue.done(patient));
    held.open();
    p.expect_done(patient);
    p.expect_done(behind);
    EXPECT_EQ(p.report("channel").failures, 0u);
}

// Its engine copies nothing for a second of the devices' time, in which a small batch is late.
TEST(batch_waiting_test, a_large_batch_has_the_time_of_its_bytes_and_a_small_one_has_not) {
    engine_machine machine("channel");
    batch_program p;
    auto const stands_still = [&](std::size_t pieces, std::size_t bytes, int looks) {
        p.expect_to_work(1); // by an engine that has been tested
        machine.gpu().hold(own_engine);
        // From where nothing is mapped, so that the fake engine need not copy gigabytes.
        batch_ticket const ticket =
            p.queue.submit(std::vector<copy_piece>(pieces, {p.host.address(), 16, bytes}));
        bool is_late = false;
        for (int i = 0; i < looks && !is_late; ++i) {
            std::this_thread::sleep_for(5ms); // the watcher looks every 2 ms
            machine->kernel().run_for(50ms);
            try {
                EXPECT_FALSE(p.queue.done(ticket));
            } catch (error const&) {
                is_late = true;
            }
        }
        machine.gpu().release();
        EXPECT_THROW((void)p.queue.wait(ticket, 20s), error);
        return is_late;
    };
    EXPECT_FALSE(stands_still(1000, mib, 20)) << "one ticket";
    EXPECT_FALSE(stands_still(engine::command_ring::most_pieces + 1000, mib, 20)) << "two tickets";
    EXPECT_TRUE(stands_still(1000, 1, 4000)) << "as soon as the watcher has looked";
}

// A channel that stands still after its stream has come is late all the same.
TEST(batch_waiting_test, a_batch_whose_stream_has_come_is_late_when_it_stands_still) {
    engine_machine machine("channel");
    batch_program p;
    p.expect_to_work(1);
    gated_stream held;
    batch_ticket const ticket = p.queue.submit(p.pieces(5, 100), after{held.get()});
    machine.gpu().stall();
    EXPECT_FALSE(p.queue.wait(ticket, 300ms)) << "a batch that waits for its stream is not late";
    held.open();
    EXPECT_THROW((void)p.queue.wait(ticket, 20s), error);
    machine.gpu().resume();
    p.expect_to_work(2);
}

} // namespace
} // namespace barmap::contract
