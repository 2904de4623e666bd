// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"

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
        batch_queue another = other.batches();
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

TEST(batch_ticket_test, one_that_this_channel_has_not_given_is_refused) {
    expect_other_tickets_to_be_refused("channel");
}

TEST(batch_ticket_test, one_that_this_driver_engine_has_not_given_is_refused) {
    expect_other_tickets_to_be_refused("driver");
}

} // namespace
} // namespace barmap::contract
