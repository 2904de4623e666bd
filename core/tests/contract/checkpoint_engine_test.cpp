// SPDX-License-Identifier: MIT
#include "base/checkpoint.hpp"
#include "contract/batch_fixture.hpp"
#include "contract/checkpoint_of_cuda.hpp"
#include "contract/sealed.hpp"
#include "shared/in_child.hpp"

#include <barmap/checkpoint.hpp>
#include <barmap/counter.hpp>
#include <barmap/ring.hpp>

#include <functional>
#include <string_view>
#include <unistd.h>

/// What copies and signals when the process is prepared for a checkpoint, and afterwards.
namespace barmap::contract {
namespace {

class checkpoint_copies_test : public testing::TestWithParam<engine_way> {
protected:
    engine_machine machine_{GetParam().engine, GetParam().how};
};
INSTANTIATE_TEST_SUITE_P(ways, checkpoint_copies_test, over(held_ways()), name_of_way);

TEST_P(checkpoint_copies_test, engines_copy_what_is_there_afterwards) {
    device const gpu = device::open(0);
    auto const block =
        make_memory(memory_kind::virtual_exportable, 4 * mib); // which each engine holds
    mapping const map = gpu.pin(block->address(), 4 * mib).map();
    host_buffer const pinned = gpu.allocate_host(2 * mib);
    std::uintptr_t const pinned_on_gpu = pinned.gpu_address();
    std::vector<std::byte> pageable(3 * mib);
    auto const round_trip = [&](std::span<std::byte> host, unsigned seed) {
        auto const sent = pattern(host.size(), seed);
        std::memcpy(host.data(), sent.data(), sent.size());
        map.copy_to_gpu(5, host);
        EXPECT_TRUE(read_by_driver(block->address() + 5, host.size()) == sent);
        std::memset(host.data(), 0, host.size());
        map.copy_to_cpu(host, 5);
        EXPECT_EQ(std::memcmp(host.data(), sent.data(), sent.size()), 0);
    };
    auto const held_by_driver = [&] { return machine_->held().driver_objects; };
    for (unsigned i = 0; i < 4; ++i) {
        round_trip(pageable, i);
        round_trip({pinned.data(), pinned.size()}, i + 1);
        EXPECT_GT(held_by_driver(), 0u);
        checkpoint_prepare();
        EXPECT_EQ(held_by_driver(), 0u);
        checkpoint_of_cuda::whole();
        checkpoint_restore();
        EXPECT_EQ(pinned.gpu_address(), pinned_on_gpu);
    }
    round_trip(pageable, 9);
    for (engine_report const& each : gpu.started_engines())
        if (each.name == GetParam().engine) {
            EXPECT_EQ(each.state, backend_state::usable) << each.reason;
            EXPECT_EQ(each.failures, 0u);
            EXPECT_GE(each.copies, 10u);
        }
}

class checkpoint_batch_test : public testing::TestWithParam<char const*> {
protected:
    engine_machine machine_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(ways, checkpoint_batch_test, testing::Values("channel", "driver"),
                         [](auto const& info) { return std::string(info.param); });

TEST_P(checkpoint_batch_test, goes_on_and_knows_the_tickets_of_before) {
    batch_program p;
    std::vector<batch_ticket> tickets;
    for (unsigned i = 0; i < 8; ++i) { // more than an engine may fail
        p.expect_to_work(i);
        tickets.push_back(p.queue.submit(p.pieces(5, 100)));
        checkpoint_prepare(60s);
        EXPECT_EQ(machine_->held().driver_objects, 0u);
        expect_refusal([&] { (void)p.queue.submit(p.pieces(5, 100)); }, errc::checkpointed,
                       "copy a batch", "checkpoint_restore()");
        for (auto const& call : std::initializer_list<std::function<void()>>{
                 [&] { (void)p.queue.done(tickets.back()); },
                 [&] { (void)p.queue.wait(tickets.back(), 1s); }, [&] { (void)p.queue.engine(); },
                 [&] { (void)p.queue.reports(); }, [&] { (void)p.gpu.batch_queue(); }})
            expect_refusal(call, errc::checkpointed, "prepared");
        checkpoint_of_cuda::whole();
        checkpoint_restore();
        for (batch_ticket const each : tickets) {
            EXPECT_TRUE(p.queue.done(each));
            EXPECT_TRUE(p.queue.wait(each, 0s));
        }
    }
    p.expect_to_work(9);
    EXPECT_EQ(p.queue.engine(), GetParam());
    EXPECT_EQ(p.report(GetParam()).failures, 0u);
    auto const never_given = [](batch_ticket after) {
        return batch_ticket{static_cast<std::uint64_t>(after) + 1000};
    };
    for (batch_ticket const each : {batch_ticket{~std::uint64_t{0}}, never_given(tickets[2])})
        expect_refusal([&] { (void)p.queue.done(each); }, errc::invalid_argument, "ticket");
}

TEST_P(checkpoint_batch_test, waits_for_batches_or_refuses) {
    batch_program p;
    mapping const map = p.gpu.allocate(mib).map();
    auto const list = p.pieces(9, 100);
    auto const there = pattern(batch_program::size, 1), here = pattern(batch_program::size, 2);
    write_by_driver(p.block.address(), there);
    p.host.fill(here);
    gated_stream held;
    batch_ticket const ticket = p.queue.submit(list, after{held.get()});
    expect_refusal([] { checkpoint_prepare(0s); }, errc::copy_unfinished, "prepare the process",
                   "nothing has changed");
    expect_refusal([] { checkpoint_prepare(5ms); }, errc::copy_unfinished, "prepare the process");
    write_value(map.window(0, 8), 1); // is still there
    EXPECT_FALSE(p.queue.done(ticket));
    std::thread opener([&] {
        std::this_thread::sleep_for(20ms);
        held.open();
    });
    checkpoint_prepare(100s);
    opener.join();
    checkpoint_of_cuda::whole();
    checkpoint_restore();
    EXPECT_TRUE(p.queue.done(ticket));
    EXPECT_TRUE(same_bytes(p.host.bytes(), p.host_after(list, here, there)));
}

// CUDA copies them, while the channel's engine has nothing to do.
TEST(checkpoint_batch, waits_for_short_batches_beside_the_channel) {
    engine_machine machine(nullptr);
    batch_program p;
    p.expect_to_work(1);
    gated_stream held;
    batch_ticket const ticket =
        p.queue.submit(p.pieces(3, 100), after{held.get()}, then{held.get()});
    EXPECT_EQ(p.report("driver").copies, 1u);
    EXPECT_EQ(p.queue.engine(), "channel");
    expect_refusal([] { checkpoint_prepare(0s); }, errc::copy_unfinished, "nothing has changed");
    held.open();
    checkpoint_prepare(100s);
    checkpoint_of_cuda::whole();
    checkpoint_restore();
    EXPECT_TRUE(p.queue.done(ticket));
    p.expect_to_work(2);
}

TEST_P(checkpoint_batch_test, a_thread_that_submits_is_held_up_or_refused) {
    batch_program p;
    std::atomic<bool> stop{false};
    std::atomic<unsigned> refused{0};
    std::jthread const submitter([&] {
        while (!stop)
            try {
                p.expect_done(p.queue.submit(p.pieces(5, 100)));
            } catch (error const& failure) {
                EXPECT_EQ(failure.code(), errc::checkpointed) << failure.what();
                ++refused;
            }
    });
    for (int i = 0; i < 5; ++i) {
        checkpoint_prepare(100s);
        unsigned const before = refused;
        while (refused < before + 2)
            std::this_thread::yield();
        checkpoint_restore();
    }
    stop = true;
}

TEST(checkpoint_batch, that_has_failed_stays_failed) {
    engine_machine machine(nullptr);
    batch_program p;
    p.expect_to_work(1);
    batch_ticket const done = p.queue.submit(p.pieces(3, 100));
    p.expect_done(done);
    batch_ticket const bad = p.queue.submit(p.unmapped());
    EXPECT_ANY_THROW((void)p.queue.wait(bad, 100s));
    p.expect_to_work(2);
    checkpoint_and_restore();
    expect_refusal([&] { (void)p.queue.done(bad); }, errc::copy_unfinished, "unknown");
    EXPECT_TRUE(p.queue.done(done)) << "what was done stays done";
    EXPECT_EQ(p.report("channel").failures, 1u);
    EXPECT_EQ(p.queue.engine(), "channel");
    p.expect_to_work(3);
}

TEST(checkpoint_batch, that_fails_unseen_before_prepare_has_failed) {
    engine_machine machine("driver");
    batch_program p;
    batch_ticket const bad = p.queue.submit(p.pieces(3, 100));
    {
        changed_driver broken; // as after a kernel that has read where nothing is
        broken->event_query = [](CUevent) -> CUresult { return 719; };
        checkpoint_prepare(60s);
    }
    checkpoint_restore();
    expect_refusal([&] { (void)p.queue.done(bad); }, errc::copy_unfinished, "unknown");
    p.expect_to_work(1);
}

TEST_P(checkpoint_copies_test, without_prepare_copies_are_refused_until_it_is_put_right) {
    device const gpu = device::open(0);
    device_block const block(4 * mib);
    mapping const map = gpu.pin(block.address(), 4 * mib).map();
    std::vector<std::byte> host(3 * mib);
    map.copy_to_cpu(host, 0);
    checkpoint_of_cuda::whole();
    std::this_thread::sleep_for(2 * checkpoint::shortest); // no real one is as short
    write_by_driver(block.address(), pattern(4 * mib, 1));
    expect_refusal([&] { map.copy_to_cpu(host, 0); }, errc::checkpointed, "without checkpoint",
                   "checkpoint_restore()");
    expect_refusal([&] { map.copy_to_gpu(0, host); }, errc::checkpointed, "without checkpoint");
    expect_refusal([&] { (void)gpu.pin(block.address(), 8); }, errc::checkpointed, "without");
    expect_refusal([] { checkpoint_prepare(); }, errc::checkpointed, "without");
    checkpoint_restore();
    map.copy_to_cpu(host, 5);
    EXPECT_TRUE(host == read_by_driver(block.address() + 5, 3 * mib));
    expect_same_memory(map, block.address(), 2);
    checkpoint_and_restore();
    expect_same_memory(map, block.address(), 3);
}

TEST(checkpoint_batch, engines_that_were_given_up_stay_so) {
    engine_machine machine(nullptr);
    batch_program p;
    for (int i = 0; i < 3; ++i)
        EXPECT_ANY_THROW((void)p.queue.wait(p.queue.submit(p.unmapped()), 100s));
    EXPECT_EQ(p.queue.engine(), "driver");
    checkpoint_and_restore();
    EXPECT_EQ(p.queue.engine(), "driver");
    EXPECT_EQ(p.report("channel").state, backend_state::broken);
    p.expect_to_work(1);
}

void expect_batches_to_be_refused_without_prepare(std::string_view which) {
    engine_machine machine("channel", {.chip = which});
    batch_program p;
    p.expect_to_work(1);
    batch_ticket const before = p.queue.submit(p.pieces(3, 100));
    p.expect_done(before);
    checkpoint_of_cuda::whole();
    std::this_thread::sleep_for(2 * checkpoint::shortest); // no real one is as short
    for (int i = 0; i < 2; ++i)
        expect_refusal([&] { (void)p.queue.submit(p.pieces(3, 100)); }, errc::checkpointed,
                       "without checkpoint", "checkpoint_restore()");
    checkpoint_restore();
    EXPECT_TRUE(p.queue.done(before));
    p.expect_to_work(2);
}

TEST(checkpoint_batch, without_prepare_is_refused_by_the_channel) {
    expect_batches_to_be_refused_without_prepare("GH100");
}

// Its block is a pool's, which has no IPC handle to tell its objects by.
TEST(checkpoint_batch, without_prepare_is_refused_by_an_older_channel) {
    expect_batches_to_be_refused_without_prepare("GA100");
}

TEST(checkpoint_pin, that_forces_the_pcie_path_comes_back_by_it) {
    engine_machine machine(nullptr);
    constexpr auto by_pcie = rm::abi::map_flags_bus_pcie;
    device const gpu = device::open(0);
    device_block const block(2 * mib);
    mapping const map = gpu.pin(block.address(), mib, {.force_pcie = true}).map();
    EXPECT_NE(machine.driver().last_map_flags() & by_pcie, 0u);
    checkpoint_and_restore();
    EXPECT_NE(machine.driver().last_map_flags() & by_pcie, 0u);
    expect_same_memory(map, block.address(), 1);
}

TEST(checkpoint_ring, keeps_its_messages_and_its_place) {
    engine_machine machine(nullptr);
    device const gpu = device::open(0);
    arena const words(gpu, mib, mib);
    ring_to_gpu<std::uint64_t> there(words, 8);
    ring_to_cpu<std::uint64_t> back(words, 8);
    gpu::consumer<std::uint64_t> in(there.handle_for_thread());
    gpu::producer<std::uint64_t> out(back.handle_for_thread());
    for (std::uint64_t i = 0; i < 50; ++i) {
        ASSERT_TRUE(there.try_push(i));
        there.flush();
        ASSERT_EQ(out.push(~i, 1'000'000'000), gpu::status::ok);
        checkpoint_and_restore();
        std::uint64_t message = 0;
        ASSERT_EQ(in.pop(message, 1'000'000'000), gpu::status::ok);
        EXPECT_EQ(message, i);
        EXPECT_EQ(back.try_pop(), ~i);
    }
}

// Its end returns credits, which would end the process.
TEST(checkpoint_ring, may_be_destroyed_in_between) {
    engine_machine machine(nullptr);
    device const gpu = device::open(0);
    arena const words(gpu, mib, mib);
    {
        ring_to_cpu<std::uint64_t> ring(words, 8);
        ASSERT_EQ(gpu::push(ring.handle_for_thread(), std::uint64_t{1}), gpu::status::ok);
        EXPECT_EQ(ring.try_pop(), 1u);
        checkpoint_prepare();
    }
    checkpoint_restore();
}

TEST(checkpoint_ring, is_neither_made_nor_shared_in_between) {
    engine_machine machine(nullptr);
    device const gpu = device::open(0);
    arena const words(gpu, mib, mib, "rm");
    ring_to_gpu<std::uint64_t> there(words, 8);
    ring_to_cpu<std::uint64_t> back(words, 8);
    ASSERT_EQ(gpu::push(back.handle_for_thread(), std::uint64_t{1}), gpu::status::ok);
    EXPECT_EQ(back.try_pop(), 1u); // so that it owes a credit
    std::function<void()> const calls[] = {
        [&] { (void)there.share(); },
        [&] { (void)back.share(); },
        [&] { (void)ring_to_gpu<int>(words, 8); },
        [&] { (void)ring_to_cpu<int>(words, 8); },
        [&] { (void)counter_to_gpu(words); },
        [&] { (void)counter_to_cpu(words); },
    };
    checkpoint_prepare();
    for (auto const& call : calls)
        expect_refusal(call, errc::checkpointed, "prepared for a checkpoint");
    checkpoint_restore();
    for (auto const& call : calls)
        call();
}

// Its memory is not there.
TEST(checkpoint_ring, is_not_shared_by_a_forked_child) {
    engine_machine machine(nullptr);
    device const gpu = device::open(0);
    arena const words(gpu, mib, mib, "rm");
    ring_to_cpu<std::uint64_t> ring(words, 8);
    ASSERT_EQ(gpu::push(ring.handle_for_thread(), std::uint64_t{1}), gpu::status::ok);
    EXPECT_EQ(ring.try_pop(), 1u);
    expect_exit(7, in_child(0, [&] {
                    try {
                        (void)ring.share();
                    } catch (error const& failure) {
                        ::_exit(failure.code() == errc::forked_child ? 7 : 2);
                    }
                }));
}

// Whatever threads are at: a call ends as ever, or is refused, and all is there afterwards.
TEST(checkpoint_threads, go_on_with_everything) {
    engine_machine machine(nullptr);
    batch_program p;
    mapping const stays = p.gpu.allocate(mib).map();
    std::atomic<bool> stop{false};
    std::atomic<unsigned> rounds{0};
    auto const over_and_over = [&](auto action) {
        return std::jthread([&stop, &rounds, action] {
            while (!stop) {
                try {
                    action();
                    ++rounds;
                } catch (error const& failure) {
                    EXPECT_EQ(failure.code(), errc::checkpointed) << failure.what();
                }
            }
        });
    };
    std::vector<std::jthread> users;
    users.push_back(over_and_over([&] { (void)device::open(0).allocate(mib).map(); }));
    users.push_back(over_and_over([&] {
        batch_queue queue = p.gpu.batch_queue();
        (void)queue.wait(queue.submit(p.pieces(3, 10)), 100s);
    }));
    users.push_back(over_and_over([&] {
        std::vector<std::byte> host(mib);
        stays.copy_to_gpu(0, host);
        stays.copy_to_cpu(host, 0);
    }));
    users.push_back(over_and_over([&] {
        (void)p.gpu.engines();
        (void)p.gpu.backends();
        (void)p.gpu.bar1();
        (void)p.gpu.allocate_host(mib);
    }));
    for (unsigned i = 0; i < 30; ++i) {
        checkpoint_prepare(100s);
        checkpoint_of_cuda::whole();
        checkpoint_restore();
        unsigned const before = rounds;
        while (rounds < before + 8)
            std::this_thread::yield();
    }
    stop = true;
    users.clear();
    p.expect_to_work(1);
}

// Its memory goes after it has left the list of what comes back.
TEST(checkpoint_pin, that_is_being_destroyed_is_waited_for) {
    engine_machine machine(nullptr);
    device const gpu = device::open(0);
    auto own = std::make_unique<pin>(gpu.allocate(2 * mib));
    static std::atomic<bool> is_inside{false}, may_leave{false};
    changed_driver slow;
    slow->mem_unmap = [](CUdeviceptr address, std::size_t bytes) {
        is_inside = true;
        while (!may_leave)
            std::this_thread::yield();
        return changed_driver::real.mem_unmap(address, bytes);
    };
    std::jthread const destroyer([&] { own.reset(); });
    while (!is_inside)
        std::this_thread::yield();
    expect_refusal([] { checkpoint_prepare(0s); }, errc::copy_unfinished, "in flight");
    may_leave = true;
    checkpoint_prepare(100s);
    checkpoint_restore();
}

TEST(checkpoint_counter, streams_are_refused_in_between) {
    engine_machine machine(nullptr);
    device const gpu = device::open(0);
    arena const words(gpu, mib, mib);
    counter_to_gpu const there(words);
    counter_to_cpu const back(words);
    checkpoint_prepare();
    expect_refusal([&] { there.wait(nullptr, 1); }, errc::checkpointed, "stream");
    expect_refusal([&] { back.record(nullptr, 1); }, errc::checkpointed, "stream");
    checkpoint_restore();
    back.record(nullptr, 1);
    EXPECT_TRUE(back.wait_for(1, 100s));
}

} // namespace
} // namespace barmap::contract
