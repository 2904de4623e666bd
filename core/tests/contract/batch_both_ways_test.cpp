// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"

/// Large batches both ways at once: the later one takes the engines that CUDA uses as well, half of
/// it each, since either way of the link is then busy by engines of its own.
namespace barmap::contract {
namespace {

constexpr std::uint32_t shared_engines[] = {rm::abi::engine_type_copy0 + 2,
                                            rm::abi::engine_type_copy0 + 3};

/// The whole of both sides, in pieces that gain by the other engines. None follows the one before.
std::vector<copy_piece> large_pieces(device_block const& gpu, pinned_block const& host,
                                     std::size_t each = 64 * kib) {
    std::vector<copy_piece> result;
    for (std::size_t const first : {std::size_t{0}, each})
        for (std::size_t at = first; at < batch_program::size; at += 2 * each)
            result.push_back({host.address() + at, gpu.address() + at, each});
    return result;
}

struct both_ways : batch_program {
    device_block back{size};
    pinned_block back_host{size};
    std::vector<copy_piece> out_list = large_pieces(block, host),
                            back_list = large_pieces(back, back_host);

    void fill(unsigned seed) const {
        write_by_driver(block.address(), pattern(size, seed));
        back_host.fill(pattern(size, seed + 1));
    }
    void expect_copied(unsigned seed) const {
        EXPECT_TRUE(same_bytes(host.bytes(), pattern(size, seed)));
        EXPECT_TRUE(read_by_driver(back.address(), size) == pattern(size, seed + 1));
    }
};

TEST(batch_both_ways_test, the_way_back_takes_the_other_engines) {
    engine_machine machine("channel");
    both_ways p;
    open_stream other;
    for (unsigned round = 0; round < 3; ++round) {
        SCOPED_TRACE(round);
        p.fill(round);
        machine.gpu().hold(own_engine);
        batch_ticket const out = p.queue.submit(p.out_list);
        fake::gpu::activity before = machine.gpu().done();
        batch_ticket const back =
            round == 0 ? p.queue.submit(turned(p.back_list))
                       : p.queue.submit(turned(p.back_list), std::nullopt, then{other.get()});
        p.expect_done(back);
        for (std::uint32_t const each : shared_engines)
            EXPECT_GE(machine.gpu().done().launches_of[each] - before.launches_of[each],
                      p.back_list.size() / 2);
        EXPECT_FALSE(p.queue.done(out)) << "its ticket is its own";
        machine.gpu().release();
        p.expect_done(out);
        EXPECT_EQ(machine.gpu().done().engine_type, own_engine);
        p.expect_copied(round);
    }
    p.expect_done(p.queue.submit(turned(p.back_list))); // nothing goes the other way any more
    EXPECT_EQ(machine.gpu().done().engine_type, own_engine);
}

// There copies of CUDA's wait for streams as well, and keep these engines meanwhile.
TEST(batch_both_ways_test, a_way_back_that_waits_for_a_stream_takes_the_own_engine) {
    engine_machine machine("channel");
    both_ways p;
    open_stream stream;
    p.fill(5);
    machine.gpu().hold(own_engine);
    batch_ticket const out = p.queue.submit(p.out_list);
    batch_ticket const back = p.queue.submit(turned(p.back_list), after{stream.get()});
    machine.gpu().release();
    p.expect_done(out);
    p.expect_done(back);
    for (std::uint32_t const each : shared_engines)
        EXPECT_EQ(machine.gpu().done().launches_of[each], 0u);
    p.expect_copied(5);
}

// What is small, short, or goes the same way as what is under way stays on the own engine.
TEST(batch_both_ways_test, only_a_large_way_back_takes_other_engines) {
    for (bool const one_is_shared : {false, true}) {
        SCOPED_TRACE(one_is_shared);
        engine_machine machine("channel", {.one_engine_shared = one_is_shared});
        both_ways p;
        auto const taken_by_others = [&](copy_direction way, std::vector<copy_piece> const& list) {
            machine.gpu().hold(own_engine);
            batch_ticket const out = p.queue.submit(p.out_list);
            fake::gpu::activity before = machine.gpu().done();
            batch_ticket const ticket = p.queue.submit(going(way, list));
            machine.gpu().release();
            p.expect_done(ticket);
            p.expect_done(out);
            fake::gpu::activity after = machine.gpu().done();
            return after.launches_of[shared_engines[0]] != before.launches_of[shared_engines[0]];
        };
        std::size_t const least = one_is_shared ? 16384 : 2048;
        auto const to_gpu = copy_direction::to_gpu;
        EXPECT_TRUE(taken_by_others(to_gpu, large_pieces(p.back, p.back_host, least)));
        EXPECT_FALSE(taken_by_others(to_gpu, large_pieces(p.back, p.back_host, least / 2)));
        EXPECT_FALSE(taken_by_others(
            to_gpu, std::vector<copy_piece>{{p.back_host.address(), p.back.address(), mib - 1}}));
        EXPECT_FALSE(taken_by_others(copy_direction::to_cpu, p.back_list));
    }
}

// Between memories of GPUs the other engines are slow, and what is among them takes no link to the
// host.
TEST(batch_both_ways_test, what_stays_among_gpus_takes_the_own_engine) {
    engine_machine machine("channel");
    both_ways p;
    device_block inside{p.size};
    std::vector<copy_piece> list = p.back_list;
    for (copy_piece& each : list)
        each.to = each.to - p.back_host.address() + inside.address();
    for (auto const& first : {p.out_list, turned(p.out_list)}) {
        p.fill(4);
        machine.gpu().hold(own_engine);
        fake::gpu::activity before = machine.gpu().done();
        batch_ticket const out = p.queue.submit(first), in = p.queue.submit(list);
        machine.gpu().release();
        p.expect_done(out);
        p.expect_done(in);
        fake::gpu::activity after = machine.gpu().done();
        for (std::uint32_t const each : shared_engines)
            EXPECT_EQ(after.launches_of[each], before.launches_of[each]);
    }
}

// Some small pieces do not wait for a large batch that they have nothing to do with.
TEST(batch_both_ways_test, a_small_batch_passes_a_large_one) {
    engine_machine machine("channel");
    both_ways p;
    open_stream stream;
    // With gaps: adjacent pieces would become one.
    auto const first_pieces = [&](std::size_t count, std::size_t bytes) {
        std::vector<copy_piece> list(p.back_list.begin(), p.back_list.begin() + 1);
        list.front().bytes = bytes;
        std::size_t const next = bytes + 16;
        while (list.size() < count)
            list.push_back({list.back().to + next, list.back().from + next, bytes});
        return list;
    };
    for (bool const is_ordered : {false, true}) {
        SCOPED_TRACE(is_ordered);
        p.fill(6);
        machine.gpu().hold(own_engine);
        batch_ticket const bulk = p.queue.submit(p.out_list);
        auto const small = first_pieces(64, 1024);
        batch_ticket const passing =
            is_ordered ? p.queue.submit(small, after{stream.get()}, then{stream.get()})
                       : p.queue.submit(small);
        p.expect_done(passing);
        EXPECT_FALSE(p.queue.done(bulk));
        EXPECT_EQ(machine.gpu().done().launches_of[shared_engines[1]], 0u)
            << "a stream would wait for each engine";
        if (is_ordered)
            stream.synchronize();
        std::vector<batch_ticket> const waiting{p.queue.submit(first_pieces(65, 64)),
                                                p.queue.submit(first_pieces(63, 1041))};
        p.expect_done(p.queue.submit(small)); // so would these be, if they had passed
        for (batch_ticket const each : waiting)
            EXPECT_FALSE(p.queue.done(each)) << "is too large";
        machine.gpu().release();
        p.expect_done(bulk);
        for (batch_ticket const each : waiting)
            p.expect_done(each);
    }
    fake::gpu::activity before = machine.gpu().done();
    machine.gpu().hold(own_engine);
    batch_ticket const short_one = p.queue.submit(first_pieces(64, 64));
    batch_ticket const behind = p.queue.submit(first_pieces(64, 64));
    EXPECT_EQ(machine.gpu().done().launches_of[shared_engines[0]],
              before.launches_of[shared_engines[0]]);
    machine.gpu().release();
    p.expect_done(short_one);
    p.expect_done(behind);
}

// Each ticket names its own queue, however many queues there are.
TEST(batch_both_ways_test, a_batch_that_has_passed_is_not_done_before_its_engine_is) {
    for (auto const way : {copy_direction::to_gpu, copy_direction::to_cpu})
        for (bool const is_ordered : {false, true}) {
            SCOPED_TRACE(is_ordered);
            engine_machine machine("channel");
            both_ways p;
            open_stream stream;
            auto const small = going(way, {p.back_list.begin(), p.back_list.begin() + 1});
            for (unsigned i = 0; i < 3; ++i) // of other queues, with the same numbers
                p.expect_done(p.queue.submit(small));
            machine.gpu().stall();
            batch_ticket const bulk = p.queue.submit(p.out_list);
            batch_ticket const passing =
                is_ordered ? p.queue.submit(small, after{stream.get()}, then{stream.get()})
                           : p.queue.submit(small);
            EXPECT_FALSE(p.queue.done(passing));
            machine.gpu().resume();
            p.expect_done(passing);
            p.expect_done(bulk);
        }
}

// A batch that waits for its stream copies nothing, so that the own engine is free for others.
TEST(batch_both_ways_test, a_batch_that_waits_for_a_stream_sends_nobody_to_other_engines) {
    engine_machine machine("channel");
    both_ways p;
    p.fill(3);
    gated_stream held, other;
    batch_ticket const out = p.queue.submit(p.out_list, after{held.get()});
    fake::gpu::activity before = machine.gpu().done();
    p.expect_done(p.queue.submit(turned(p.back_list)));
    other.open();
    p.expect_done(p.queue.submit(turned(p.back_list), after{other.get()}));
    fake::gpu::activity after = machine.gpu().done();
    for (std::uint32_t const each : shared_engines)
        EXPECT_EQ(after.launches_of[each], before.launches_of[each]);
    EXPECT_FALSE(p.queue.done(out));
    held.open();
    p.expect_done(out);
    p.expect_copied(3);
}

// Its half of a batch is: the other half is right.
TEST(batch_both_ways_test, a_failure_of_either_engine_is_told) {
    for (bool const is_first : {true, false}) {
        SCOPED_TRACE(is_first);
        engine_machine machine("channel");
        both_ways p;
        p.fill(7);
        machine.gpu().hold(own_engine);
        batch_ticket const waiting = p.queue.submit(p.out_list);
        std::vector<copy_piece> list = p.back_list;
        (is_first ? list.front() : list.back()).from = 16; // which CUDA has not mapped
        batch_ticket const bad = p.queue.submit(turned(list));
        machine.gpu().release();
        expect_refusal([&] { (void)p.queue.wait(bad, 20s); }, errc::copy_unfinished,
                       "which bytes it copied is unknown");
        p.expect_done(waiting); // another queue's
        p.expect_to_work(8);
        EXPECT_EQ(p.report("channel").failures, 1u);
    }
}

/// CUDA's calls for words of streams: counts them, and refuses them from one of them on.
struct counted_words : changed_driver {
    explicit counted_words(int most) {
        calls = 0;
        good = most;
        (*this)->stream_write_value32 = [](CUstream of, CUdeviceptr at, unsigned value,
                                           unsigned how) {
            return ++calls > good ? CUresult{400} : real.stream_write_value32(of, at, value, how);
        };
        (*this)->stream_wait_value32 = [](CUstream of, CUdeviceptr at, unsigned value,
                                          unsigned how) {
            return ++calls > good ? CUresult{400} : real.stream_wait_value32(of, at, value, how);
        };
    }

    static inline int calls = 0, good = 0;
};

// What CUDA refuses of a batch that two engines share: no piece of it is copied, the streams that
// were ordered before are released, and the engines' tickets stay in step.
TEST(batch_both_ways_test, a_batch_that_is_refused_half_way_copies_nothing) {
    engine_machine machine("channel");
    both_ways p;
    open_stream stream;
    for (int calls = 0; calls < 2; ++calls) { // a wait for each engine
        SCOPED_TRACE(calls);
        p.fill(1);
        write_by_driver(p.back.address(), pattern(p.size, 9));
        machine.gpu().hold(own_engine);
        batch_ticket const out = p.queue.submit(p.out_list);
        {
            counted_words const refusing(calls);
            EXPECT_THROW(
                (void)p.queue.submit(turned(p.back_list), std::nullopt, then{stream.get()}), error);
        }
        stream.synchronize();
        EXPECT_TRUE(read_by_driver(p.back.address(), p.size) == pattern(p.size, 9));
        batch_ticket const back =
            p.queue.submit(turned(p.back_list), std::nullopt, then{stream.get()});
        machine.gpu().release();
        p.expect_done(back);
        p.expect_done(out);
        p.expect_copied(1);
        EXPECT_EQ(p.report("channel").failures, 0u);
    }
}

// Of two streams the second does not wait for the first, though one queue passes for both.
TEST(batch_both_ways_test, a_stream_that_waits_holds_up_no_other_that_passes) {
    engine_machine machine("channel");
    both_ways p;
    gated_stream held;
    open_stream ready;
    auto const small = turned({p.back_list.begin(), p.back_list.begin() + 1});
    machine.gpu().hold(own_engine);
    batch_ticket const out = p.queue.submit(p.out_list);
    batch_ticket const waits = p.queue.submit(small, after{held.get()});
    batch_ticket const free = p.queue.submit(small, after{ready.get()});
    machine.gpu().release();
    p.expect_done(out);
    p.expect_done(free);
    EXPECT_FALSE(p.queue.done(waits));
    held.open();
    p.expect_done(waits);
}

// One queue fails while a submission waits for room in another, which waits for a stream that waits
// for the failed one.
TEST(batch_both_ways_test, a_failure_of_one_queue_ends_the_wait_for_room_in_another) {
    engine_machine machine("channel");
    both_ways p;
    gated_stream gate;
    open_stream stream;
    std::vector<copy_piece> bad = p.back_list;
    bad.back().from = 16;
    // The first nearly fills the other queue; the second is for the next channel.
    std::vector<copy_piece> const list(1'900'000, {p.back.address(), p.back_host.address(), 8});
    machine.gpu().hold(own_engine);
    batch_ticket const out = p.queue.submit(p.out_list);
    batch_ticket const failing = p.queue.submit(turned(bad), after{gate.get()}, then{stream.get()});
    std::atomic<int> submitted = 0;
    std::thread submitter([&] {
        for (std::size_t const pieces : {list.size(), std::size_t{250'000}}) {
            try {
                (void)p.queue.submit(std::span(list).first(pieces), after{stream.get()});
            } catch (error const&) {
                // No engine took it.
            }
            ++submitted;
        }
    });
    while (submitted < 1)
        std::this_thread::yield();
    std::this_thread::sleep_for(20ms);
    EXPECT_LT(submitted, 2) << "one waits for room";
    machine.gpu().release();
    p.expect_done(out);
    gate.open();
    stream.synchronize();
    EXPECT_THROW((void)p.queue.wait(failing, 60s), error);
    submitter.join();
}

// More pieces than a ticket of each engine holds; an odd number of them.
TEST(batch_both_ways_test, a_long_way_back_is_cut_into_rounds) {
    engine_machine machine("channel");
    both_ways p;
    open_stream stream;
    for (unsigned round = 0; round < 2; ++round) {
        SCOPED_TRACE(round);
        p.fill(round);
        machine.gpu().hold(own_engine);
        batch_ticket const out = p.queue.submit(p.out_list);
        std::vector<copy_piece> list;
        for (unsigned i = 0; i < 20'001; ++i)
            list.push_back(p.back_list[i % p.back_list.size()]);
        for (copy_piece& each : list)
            each.bytes = 2048;
        fake::gpu::activity before = machine.gpu().done();
        batch_ticket back{};
        {
            counted_words const counting(100);
            back = p.queue.submit(turned(list), std::nullopt, then{stream.get()});
        }
        EXPECT_EQ(counted_words::calls, 2) << "one wait for each engine";
        machine.gpu().release();
        p.expect_done(back);
        stream.synchronize();
        std::uint64_t launches = 0;
        for (std::uint32_t const each : shared_engines)
            launches += machine.gpu().done().launches_of[each] - before.launches_of[each];
        EXPECT_GE(launches, list.size());
        p.expect_done(out);
        auto const there = read_by_driver(p.back.address(), p.size);
        for (copy_piece const& each : p.back_list)
            EXPECT_EQ(std::memcmp(there.data() + (each.from - p.back.address()),
                                  p.back_host.bytes().data() + (each.to - p.back_host.address()),
                                  2048),
                      0);
    }
}

// One engine may be had, and the other not.
TEST(batch_both_ways_test, works_with_one_engine_for_the_way_back) {
    engine_machine machine("channel");
    both_ways p;
    p.fill(2);
    machine.gpu().hold(own_engine);
    batch_ticket const out = p.queue.submit(p.out_list);
    changed_driver refusing;
    refusing->mem_alloc = [](CUdeviceptr* to, std::size_t bytes) {
        static int left = 1; // memory for one channel
        return left-- > 0 ? changed_driver::real.mem_alloc(to, bytes) : CUresult{2};
    };
    p.expect_done(p.queue.submit(turned(p.back_list)));
    refusing.restore();
    EXPECT_EQ(machine.gpu().done().engine_type, shared_engines[0]);
    machine.gpu().release();
    p.expect_done(out);
    p.expect_copied(2);
}

} // namespace
} // namespace barmap::contract
