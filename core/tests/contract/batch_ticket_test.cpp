// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"

#include <barmap/checkpoint.hpp>
#include <barmap/unheld_batches.hpp>

#include <cstring>
#include <functional>
#include <optional>

/// Which tickets an engine takes for its own.
namespace barmap::contract {
namespace {

void expect_other_tickets_to_be_refused(char const* engine_name) {
    set_environment("BARMAP_SIM_DEVICES", "2");
    engine_machine machine(engine_name);
    auto const expect_refused = [](batch_queue const& queue, std::uint64_t value) {
        for (bool const waits : {false, true})
            expect_refusal(
                [&] {
                    if (waits)
                        (void)queue.wait(batch_ticket{value}, 1ms);
                    else
                        (void)queue.done(batch_ticket{value});
                },
                errc::invalid_argument, "give a ticket of this GPU's batch queue");
    };
    std::uint64_t old = 0;
    {
        batch_program p;
        old = static_cast<std::uint64_t>(p.queue.submit(p.pieces(3, 100)));
        p.expect_done(batch_ticket{old});
        for (std::uint64_t const distance :
             {std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{1} << 40, std::uint64_t{1} << 44,
              std::uint64_t{9} << 44, std::uint64_t{15} << 44, std::uint64_t{1} << 48,
              std::uint64_t{1} << 63})
            expect_refused(p.queue, old + distance);
        expect_refused(p.queue, old & ~std::uint64_t{0xffff'ffff}); // its first, less one
        expect_refused(p.queue, 1);
        expect_refused(p.queue, ~std::uint64_t{0});
        machine->use(1);
        device const other = device::open(1);
        batch_queue another = other.batch_queue();
        expect_refused(another, old);
        device_block const block(4096);
        std::uint64_t const its = static_cast<std::uint64_t>(
            another.submit(std::vector<copy_piece>{{p.host.address(), block.address(), 8}}));
        expect_refused(p.queue, its);
        EXPECT_TRUE(another.wait(batch_ticket{its}, 20s));
        machine->use(0);
    }
    batch_program again;
    (void)again.queue.submit(again.pieces(3, 100));
    expect_refused(again.queue, old);
}

/// For code that others wait for.
void expect_to_start_nothing(char const* engine_name) {
    engine_machine machine(engine_name);
    batch_program p;
    EXPECT_EQ(p.queue.open_queues(), engine_name);
    auto const list = p.pieces(3, 100);
    auto const sent = pattern(batch_program::size, 5);
    write_by_driver(p.block.address(), sent);
    std::optional<batch_ticket> const ticket = p.queue.submit_started(list);
    ASSERT_TRUE(ticket);
    p.expect_done(*ticket);
    for (copy_piece const& each : list)
        EXPECT_EQ(std::memcmp(reinterpret_cast<void const*>(each.to),
                              sent.data() + (each.from - p.block.address()), each.bytes),
                  0);
    EXPECT_EQ(batch_queue::queue_of(*ticket), batch_queue::queue_of(p.queue.submit(list)));
    {
        gated_stream held_up; // holds up no batch of another queue
        batch_ticket const waiting = p.queue.submit(list, after{held_up.get()});
        batch_ticket const other = p.queue.submit(turned(list));
        EXPECT_NE(batch_queue::queue_of(waiting), batch_queue::queue_of(other));
        p.expect_done(other);
    }
    // A checkpoint takes the engine away, and no submission brings it back.
    checkpoint_prepare(60s);
    for (auto const& call : std::initializer_list<std::function<void()>>{
             [&] { (void)p.queue.submit_started(list); }, [&] { (void)p.queue.open_queues(); }})
        expect_refusal(call, errc::checkpointed, "checkpoint_restore()");
    checkpoint_restore();
    EXPECT_EQ(p.queue.submit_started(list), std::nullopt);
    EXPECT_EQ(p.queue.open_queues(), engine_name);
    EXPECT_TRUE(p.queue.submit_started(list));
}

TEST(batch_ticket_test, no_channel_is_started_where_that_is_asked_for) {
    expect_to_start_nothing("channel");
}

TEST(batch_ticket_test, no_driver_engine_is_started_where_that_is_asked_for) {
    expect_to_start_nothing("driver");
}

// Only a thread that may wait starts the next engine.
TEST(batch_ticket_test, none_is_given_where_the_engine_has_failed_and_none_is_started) {
    engine_machine machine(nullptr);
    batch_program p;
    batch_ticket const bad = p.queue.submit(p.unmapped());
    EXPECT_ANY_THROW((void)p.queue.wait(bad, 100s));
    expect_refusal([&] { (void)p.queue.submit_started(p.pieces(3, 100)); }, errc::backend_broken,
                   "submit a copy to a copy engine");
    EXPECT_EQ(p.queue.open_queues(), "channel") << "another one";
    std::optional<batch_ticket> const next = p.queue.submit_started(p.pieces(3, 100));
    ASSERT_TRUE(next);
    p.expect_done(*next);
}

TEST(unheld_batches_test, keep_what_is_theirs_until_they_have_ended) {
    engine_machine machine("channel");
    batch_program p;
    unheld_batches<int> unheld;
    std::vector<int> ended;
    EXPECT_NO_THROW(unheld.expect_none_failed(p.queue, ended));
    gated_stream held_up;
    held_up.close();
    unheld.leave(p.queue.submit(p.pieces(3, 100), after{held_up.get()}, then{held_up.get()}), 1);
    batch_ticket const second = p.queue.submit(turned(p.pieces(5, 100)));
    unheld.leave(second, 2);
    p.expect_done(second);
    unheld.expect_none_failed(p.queue, ended);
    EXPECT_EQ(ended, std::vector{2}) << "a stream that does not come hides no other queue's";
    held_up.open();
    held_up.synchronize();
    while (ended.size() < 2)
        unheld.expect_none_failed(p.queue, ended);
    EXPECT_EQ(ended, (std::vector{2, 1}));
}

TEST(unheld_batches_test, report_a_failure_once) {
    engine_machine machine(nullptr);
    batch_program p;
    unheld_batches<int> unheld;
    batch_ticket const good = p.queue.submit(p.pieces(3, 100)), bad = p.queue.submit(p.unmapped());
    unheld.leave(good, 1);
    unheld.leave(bad, 2);
    EXPECT_ANY_THROW((void)p.queue.wait(bad, 100s));
    std::vector<int> ended;
    expect_refusal([&] { unheld.expect_none_failed(p.queue, ended); }, errc::copy_unfinished,
                   "unknown");
    std::ranges::sort(ended);
    EXPECT_EQ(ended, (std::vector{1, 2})) << "of those that have failed, too";
    EXPECT_NO_THROW(unheld.expect_none_failed(p.queue, ended));
    EXPECT_EQ(ended.size(), 2u);
}

TEST(batch_ticket_test, one_that_this_channel_has_not_given_is_refused) {
    expect_other_tickets_to_be_refused("channel");
}

TEST(batch_ticket_test, one_that_this_driver_engine_has_not_given_is_refused) {
    expect_other_tickets_to_be_refused("driver");
}

} // namespace
} // namespace barmap::contract
