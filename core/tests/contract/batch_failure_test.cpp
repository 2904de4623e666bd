// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "fake/faults.hpp"
#include "transfer/engine/engine.hpp"

/// What goes wrong with batches by a channel in CUDA's address space, and who is told.
namespace barmap::contract {
namespace {

std::unique_ptr<engine::copy_engine> make_batches() {
    return engine::registry().front().make(identify(0), engine::lane::cuda);
}

void expect_failed(batch_program const& p, batch_ticket ticket) {
    auto const until = std::chrono::steady_clock::now() + 20s;
    expect_refusal(
        [&] {
            while (!p.queue.wait(ticket, 1s) && std::chrono::steady_clock::now() < until)
                ;
        },
        errc::copy_unfinished, "which bytes it copied is unknown");
    expect_refusal([&] { (void)p.queue.done(ticket); }, errc::copy_unfinished, "pinned");
}

TEST(batch_failure_test, an_address_that_is_not_mapped_is_told) {
    engine_machine machine(nullptr);
    batch_program p;
    p.expect_to_work(1);
    batch_ticket const before = p.queue.submit(p.pieces(3, 100));
    p.expect_done(before);
    std::vector<std::byte> const pageable(4096);
    expect_failed(p,
                  p.queue.submit(std::vector<copy_piece>{
                      {reinterpret_cast<std::uintptr_t>(pageable.data()), p.block.address(), 64}}));
    EXPECT_TRUE(p.queue.done(before)) << "what was done stays done";
    EXPECT_EQ(p.queue.engine(), "channel") << "another one";
    EXPECT_EQ(p.report("channel").failures, 1u);
    EXPECT_TRUE(p.queue.done(before));
    p.expect_to_work(2);

    std::uintptr_t gone = 0;
    {
        device_block const freed(mib);
        gone = freed.address();
    }
    expect_failed(p, p.queue.submit(std::vector<copy_piece>{{p.host.address(), gone, 64}}));
    p.expect_to_work(3);
}

TEST(batch_failure_test, after_three_the_driver_copies) {
    engine_machine machine(nullptr);
    batch_program p;
    for (unsigned i = 1; i <= 3; ++i) {
        EXPECT_EQ(p.queue.engine(), "channel");
        expect_failed(p, p.queue.submit(p.unmapped()));
    }
    EXPECT_EQ(p.queue.engine(), "driver");
    EXPECT_EQ(p.report("channel").copies, 3u);
    EXPECT_EQ(p.report("driver").copies, 0u) << "each engine counts its own";
    p.expect_to_work(3);
    EXPECT_EQ(p.report("driver").copies, 2u);
    EXPECT_EQ(p.report("channel").state, backend_state::broken);
    EXPECT_NE(p.report("channel").reason.find("3 batches"), std::string::npos);
    EXPECT_FALSE(p.report("channel").advice.empty());
    expect_refusal([&] { (void)p.queue.submit(p.unmapped()); }, errc::unsupported_memory,
                   "no live allocation at its `from`, 0x10");
    p.expect_to_work(4);
}

TEST(batch_failure_test, one_that_is_asked_for_and_fails_is_an_error) {
    engine_machine machine("channel");
    batch_program p;
    for (unsigned i = 1; i <= 3; ++i)
        expect_failed(p, p.queue.submit(p.unmapped()));
    expect_refusal([&] { (void)p.queue.submit(p.pieces(3, 100)); }, errc::backend_broken,
                   "3 batches failed");
}

TEST(batch_failure_test, none_is_allowed_or_none_is_there) {
    engine_machine machine(nullptr, {.cuda_has_uvm = false});
    {
        device const gpu = device::open(0);
        batch_queue const queue = gpu.batch_queue();
        EXPECT_EQ(queue.engine(), "driver");
        ASSERT_EQ(queue.reports().size(), 2u);
        EXPECT_EQ(queue.reports()[0].state, backend_state::absent);
        EXPECT_NE(queue.reports()[0].reason.find("/dev/nvidia-uvm"), std::string::npos);
    }
    set_environment("BARMAP_ENGINE", "none");
    device const gpu = device::open(0);
    expect_refusal([&] { (void)gpu.batch_queue(); }, errc::backend_absent, "BARMAP_ENGINE");
}

// Before Hopper a channel reads nothing above 2^40, where CUDA's memory is, but for its pools'.
TEST(batch_failure_test, older_generations_read_their_words_below_2_40) {
    for (auto const which : {"TU102", "GA100", "AD102"}) {
        engine_machine machine("channel", {.chip = which});
        batch_program p;
        p.expect_to_work(1);
        open_stream stream;
        batch_ticket const ordered =
            p.queue.submit(p.pieces(5, 100), after{stream.get()}, then{stream.get()});
        stream.synchronize();
        EXPECT_TRUE(p.queue.done(ordered));
        expect_failed(p, p.queue.submit(p.unmapped()));
        p.expect_to_work(2);
    }
}

TEST(batch_failure_test, older_generations_take_the_driver_if_pools_lie_elsewhere) {
    engine_machine machine(nullptr, {.chip = "GA100"});
    changed_driver elsewhere;
    static CUdeviceptr held = 0;
    elsewhere->mem_alloc_from_pool_async = [](CUdeviceptr* to, std::size_t bytes, CUmemoryPool,
                                              CUstream) {
        CUresult const status = changed_driver::real.mem_alloc(to, bytes);
        held = *to;
        return status;
    };
    batch_program p;
    EXPECT_EQ(p.queue.engine(), "driver");
    EXPECT_EQ(p.report("channel").state, backend_state::absent);
    EXPECT_NE(p.report("channel").reason.find("below 2^40"), std::string::npos);
    p.expect_to_work(1);
    EXPECT_NE(held, 0u);
    EXPECT_EQ(cuda::allocation_id(held), 0u) << "it has been freed";
}

// Nobody may look after a batch that only a stream waits for.
TEST(batch_failure_test, streams_go_on_after_a_failure) {
    engine_machine machine("channel");
    batch_program p;
    open_stream stream;
    batch_ticket const bad = p.queue.submit(p.unmapped(), after{stream.get()}, then{stream.get()});
    stream.synchronize();
    expect_failed(p, bad);
    // Again, after the watcher has had nothing to do for long.
    p.expect_to_work(1);
    (void)p.queue.submit(p.pieces(5, 100), after{stream.get()}, then{stream.get()});
    stream.synchronize();
    std::this_thread::sleep_for(1500ms);
    batch_ticket const again = p.queue.submit(p.unmapped(), {}, then{stream.get()});
    stream.synchronize();
    expect_failed(p, again);
}

TEST(batch_failure_test, a_stream_that_does_not_come_is_waited_for_so_long) {
    engine_machine machine(nullptr);
    batch_program p;
    gated_stream held;
    open_stream other;
    batch_ticket const bounded =
        p.queue.submit(p.pieces(5, 100), after{held.get(), 100ms}, then{other.get()});
    other.synchronize();
    expect_failed(p, bounded);
    p.expect_done(p.queue.submit(p.pieces(5, 100)));
    held.open();
    held.synchronize(); // writes its word, for nobody
    std::this_thread::sleep_for(20ms);
    p.expect_to_work(3);
    EXPECT_EQ(p.report("channel").failures, 1u);
    // A year is not too long, and a negative time is none.
    held.close();
    batch_ticket const patient =
        p.queue.submit(p.pieces(5, 100), after{held.get(), std::chrono::nanoseconds::max()});
    EXPECT_FALSE(p.queue.wait(patient, 50ms));
    held.open();
    EXPECT_TRUE(p.queue.wait(patient, std::chrono::nanoseconds::max()));
    EXPECT_TRUE(p.queue.wait(patient, -1s));
}

TEST(batch_failure_test, what_stalls_or_is_never_fetched_is_late) {
    engine_machine machine(nullptr);
    batch_program p;
    p.expect_to_work(1);
    machine.gpu().stall();
    batch_ticket const late = p.queue.submit(p.pieces(5, 100));
    EXPECT_FALSE(p.queue.wait(late, 1ms));
    expect_failed(p, late);
    machine.gpu().resume();
    p.expect_to_work(2);
    while (!machine.gpu().idle())
        std::this_thread::yield();
    machine.gpu().lose_doorbells(100);
    expect_failed(p, p.queue.submit(turned(p.pieces(5, 100))));
    machine.gpu().lose_doorbells(0);
    p.expect_to_work(3);
    EXPECT_EQ(p.report("channel").failures, 2u);
}

// The thread that watches sleeps by then.
TEST(batch_failure_test, what_stalls_after_a_quiet_time_is_late) {
    engine_machine machine(nullptr);
    batch_program p;
    p.expect_to_work(1);
    std::this_thread::sleep_for(1500ms); // it looks 500 times, 2 ms apart
    machine.gpu().stall();
    batch_ticket const late = p.queue.submit(p.pieces(5, 100));
    bool is_known = false;
    for (int i = 0; i < 100 && !is_known; ++i)
        try {
            EXPECT_FALSE(p.queue.wait(late, 100ms));
        } catch (error const& failure) {
            is_known = failure.code() == errc::copy_unfinished;
        }
    EXPECT_TRUE(is_known);
    machine.gpu().resume();
}

TEST(batch_failure_test, says_whether_the_stream_or_the_copy_was_late) {
    engine_machine machine(nullptr);
    device_block const block(4096);
    pinned_block const host(4096);
    gated_stream held;
    copy_piece const piece{host.address(), block.address(), 64};
    auto const trouble = [&](engine::stream_order const& order) {
        auto const engine = make_batches();
        engine->start();
        if (!order.after)
            machine.gpu().stall();
        engine::ticket const number =
            engine->submit(engine::direction::to_cpu, std::span(&piece, 1), 64, order);
        while (engine->poll(number) == engine::state::in_flight)
            std::this_thread::yield();
        EXPECT_TRUE(engine->has_stopped());
        held.open(); // the end of the engine's memory waits for it
        return engine->why_it_stopped();
    };
    EXPECT_EQ(trouble({held.get(), {}, 1ms}),
              "a batch waited for its stream longer than its at_most");
    EXPECT_EQ(trouble({}), "a batch did not end in time");
    machine.gpu().resume();
}

// Nobody knows then what is still under way: neither does its batch fail, nor a stream go on.
TEST(batch_failure_test, a_channel_that_does_not_stop_tells_nothing) {
    engine_machine machine("channel");
    open_stream stream; // outlives the engine, whose end lets it go on
    batch_program p;
    p.expect_to_work(1);
    machine.gpu().stall();
    machine.driver().keep_channels(true);
    batch_ticket const late = p.queue.submit(p.pieces(5, 100), {}, then{stream.get()});
    while (machine.driver().kept_channels() == 0) // it is late, and the driver does not stop it
        EXPECT_FALSE(p.queue.wait(late, 1ms));
    EXPECT_FALSE(p.queue.done(late));
    EXPECT_FALSE(stream.is_idle());
    machine.driver().keep_channels(false);
    machine.gpu().resume();
    p.expect_done(p.queue.submit(p.pieces(5, 100))); // by another channel
    EXPECT_EQ(p.report("channel").failures, 1u);
    EXPECT_FALSE(p.queue.done(late));
}

// What the ring has no room for waits in host memory, up to a million pieces; a submission that
// finds no room there, either, takes the next engine once its own has failed.
TEST(batch_failure_test, a_submission_that_finds_no_room_takes_the_next_engine) {
    engine_machine machine(nullptr);
    batch_program p;
    p.expect_to_work(1);
    machine.gpu().hold(own_engine);
    std::vector<copy_piece> const list(400'000, {p.host.address(), p.block.address(), 1});
    std::vector<batch_ticket> tickets;
    for (int i = 0; i < 2; ++i)
        tickets.push_back(p.queue.submit(list));
    machine.gpu().stall();
    machine.gpu().release();
    std::jthread resumer([&](std::stop_token const& stop) {
        while (!stop.stop_requested() && p.report("channel").failures == 0)
            std::this_thread::sleep_for(1ms);
        machine.gpu().resume();
    });
    std::vector<copy_piece> const more(800'000, {p.host.address(), p.block.address(), 1});
    batch_ticket const last = p.queue.submit(more);
    p.expect_done(last);
    resumer.join();
    for (batch_ticket const each : tickets)
        expect_failed(p, each);
    p.expect_to_work(2);
}

// Nobody polls a batch that only a stream waits for, of which most waits for room in the ring.
TEST(batch_failure_test, a_stream_is_released_when_the_rest_of_a_list_can_not_be_copied) {
    engine_machine machine("channel");
    batch_program p;
    p.expect_to_work(1);
    open_stream stream;
    machine.gpu().fail_next();
    std::vector<copy_piece> const list(90'000, {p.host.address(), p.block.address(), 1});
    batch_ticket const bad = p.queue.submit(list, {}, then{stream.get()});
    stream.synchronize();
    expect_failed(p, bad);
    p.expect_to_work(2);
}

TEST(batch_failure_test, a_stream_that_is_none_is_refused_and_holds_up_nothing) {
    engine_machine machine("channel");
    batch_program p;
    open_stream stream;
    auto* const none = reinterpret_cast<CUstream>(std::uintptr_t{0x1230});
    auto const list = p.pieces(5, 100);
    for (int i = 0; i < 300; ++i) {
        EXPECT_THROW((void)p.queue.submit(list, after{none}), error);
        EXPECT_THROW((void)p.queue.submit(list, {}, then{none}), error);
        EXPECT_THROW((void)p.queue.submit(list, after{stream.get()}, then{none}), error);
    }
    stream.synchronize();
    EXPECT_EQ(p.host.bytes()[0], std::byte{}) << "nothing is copied";
    p.expect_done(p.queue.submit(list, after{stream.get()}, then{stream.get()}));
    stream.synchronize();
    p.expect_to_work(2);
}

// What a stream's wait for a word is refused after its own word was ordered.
TEST(batch_failure_test, a_word_that_is_ordered_in_vain_is_taken) {
    engine_machine machine("channel");
    batch_program p;
    gated_stream stream;
    changed_driver refusing;
    refusing->stream_batch_mem_op = [](auto...) { return cuda::error_not_supported; };
    refusing->stream_wait_value32 = [](auto...) { return CUresult{400}; };
    auto const list = p.pieces(5, 100);
    for (int i = 0; i < 3; ++i)
        EXPECT_THROW((void)p.queue.submit(list, after{stream.get()}, then{stream.get()}), error);
    refusing.restore();
    stream.open();
    stream.synchronize();
    // Another one on the same channel.
    gated_stream other;
    batch_ticket const next = p.queue.submit(list, after{other.get()});
    EXPECT_FALSE(p.queue.wait(next, 20ms)) << "the stream has not come";
    other.open();
    p.expect_done(next);
}

TEST(batch_failure_test, every_refused_call_is_cleaned_up_after) {
    engine_machine machine(nullptr);
    device const gpu = device::open(0);
    make_batches()->start(); // what CUDA keeps after its first use
    fake::left_over const before = machine->held();
    for (auto const& [source, code] : {std::pair{fake::fault_source::system, EINVAL},
                                       {fake::fault_source::status, 0x1a},
                                       {fake::fault_source::status, 0x56}}) {
        unsigned which = 1;
        for (; which < 600; ++which) {
            fake::the_faults().arm(source, which, code);
            {
                auto const made = make_batches();
                try {
                    made->start();
                } catch (error const&) {
                    // Or the call was not needed.
                }
            }
            bool const fired = !fake::the_faults().fired().empty();
            fake::the_faults().disarm();
            EXPECT_EQ(machine->held(), before) << which;
            if (!fired)
                break;
        }
        EXPECT_GT(which, 5u);
        EXPECT_LT(which, 600u);
    }
}

// The GPU may have no memory for another one.
TEST(batch_failure_test, lanes_that_are_open_do_the_work_of_those_that_cannot_be) {
    engine_machine machine("channel");
    batch_program p;
    gated_stream first;
    open_stream second;
    auto const list = p.pieces(5, 100);
    batch_ticket const begun =
        p.queue.submit(turned(std::vector<copy_piece>{{p.host.address(), p.block.address(), mib}}),
                       after{first.get()});
    changed_driver refusing;
    refusing->mem_alloc = [](CUdeviceptr*, std::size_t) { return CUresult{2}; };
    // The way back, and another stream: on the lane that waits.
    pinned_block const other(mib);
    p.expect_done(
        p.queue.submit(std::vector<copy_piece>{{other.address(), p.block.address(), mib}}));
    batch_ticket const next = p.queue.submit(list, after{second.get()});
    EXPECT_FALSE(p.queue.wait(next, 20ms));
    first.open();
    p.expect_done(begun);
    p.expect_done(next);
    refusing.restore();
    p.expect_to_work(2);
    EXPECT_EQ(p.report("channel").failures, 0u);
}

// Where there is not even one for what waits, the stream's batch is refused, and holds up nothing.
TEST(batch_failure_test, what_waits_is_refused_where_no_lane_for_it_can_be_opened) {
    engine_machine machine("channel");
    batch_program p;
    gated_stream stream;
    changed_driver refusing;
    refusing->mem_alloc = [](CUdeviceptr*, std::size_t) { return CUresult{2}; };
    EXPECT_THROW((void)p.queue.submit(p.pieces(5, 100), after{stream.get()}), error);
    refusing.restore();
    p.expect_done(p.queue.submit(p.pieces(5, 100)));
    batch_ticket const later = p.queue.submit(p.pieces(5, 100), after{stream.get()});
    stream.open();
    p.expect_done(later);
}

// A space of another GPU's would be refused by the unified memory driver.
TEST(batch_failure_test, finds_the_address_space_of_each_gpu) {
    set_environment("BARMAP_SIM_DEVICES", "3");
    engine_machine machine("channel");
    for (int ordinal : {2, 0, 1}) {
        machine->use(ordinal);
        device const gpu = device::open(ordinal);
        batch_queue queue = gpu.batch_queue();
        device_block const block(mib);
        pinned_block const host(mib);
        auto const there = pattern(mib, 5 + static_cast<unsigned>(ordinal));
        write_by_driver(block.address(), there);
        EXPECT_TRUE(queue.wait(
            queue.submit(std::vector<copy_piece>{{host.address(), block.address(), mib}}), 20s));
        EXPECT_TRUE(same_bytes(host.bytes(), there));
    }
}

} // namespace
} // namespace barmap::contract
