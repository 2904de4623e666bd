// SPDX-License-Identifier: MIT
#include "batch_pieces.hpp"
#include "contract/batch_fixture.hpp"
#include "contract/memory_shortage.hpp"
#include "fake/cuda_watch.hpp"
#include "fake/faults.hpp"

#include <future>
#include <map>
#include <new>

/// What batches promise while something waits or fails (include/barmap/copy_engine.hpp,
/// docs/batches.md), over each engine.
namespace barmap::contract {
namespace {

class batch_order_test : public testing::TestWithParam<char const*> {
protected:
    engine_machine machine_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(ways, batch_order_test, testing::Values("driver", "channel"),
                         [](auto const& info) { return std::string(info.param); });

/// How a batch is ordered with a stream.
enum class mix { none, after_only, then_only, after_and_then };
constexpr mix all_mixes[] = {mix::none, mix::after_only, mix::then_only, mix::after_and_then};

copy_ticket submit(copy_engine& engine, copy_direction way, std::span<copy_piece const> list,
                   mix how, CUstream stream) {
    std::optional<after> begin;
    std::optional<then> end;
    if (how == mix::after_only || how == mix::after_and_then)
        begin = after{stream};
    if (how == mix::then_only || how == mix::after_and_then)
        end = then{stream};
    return engine.submit(way, list, begin, end);
}

/// Streams that come no further until they are opened, each with batches that wait for it.
struct waiting_streams {
    waiting_streams(batch_program& p, std::size_t streams, std::size_t batches, copy_direction way,
                    mix how) {
        auto const list = p.pieces(5, 100);
        for (std::size_t i = 0; i < streams; ++i) {
            all.push_back(std::make_unique<gated_stream>());
            for (std::size_t k = 0; k < batches; ++k)
                tickets.push_back(submit(p.engine, way, list, how, all.back()->get()));
        }
    }
    void expect_to_wait_and_end(batch_program& p) {
        for (copy_ticket const each : tickets)
            EXPECT_FALSE(p.engine.done(each));
        for (auto const& each : all)
            each->open();
        for (copy_ticket const each : tickets)
            p.expect_done(each);
    }
    std::vector<std::unique_ptr<gated_stream>> all;
    std::vector<copy_ticket> tickets;
};

// As many batches behind each as there are queues, so that none is left if they are shared out.
TEST_P(batch_order_test, streams_that_wait_hold_up_no_other_stream) {
    constexpr auto to_cpu = copy_direction::to_cpu, to_gpu = copy_direction::to_gpu;
    batch_program p;
    auto const list = p.pieces(5, 100);
    gated_stream ready;
    ready.open();
    for (std::size_t streams : {0U, 1U, 2U, 3U})
        for (mix const held : {mix::after_only, mix::after_and_then})
            for (auto const way : {to_cpu, to_gpu}) {
                SCOPED_TRACE(testing::Message() << streams << ' ' << static_cast<int>(held) << ' '
                                                << to_string(way));
                waiting_streams waiting(p, streams, 5, way, held);
                auto const other = way == to_cpu ? to_gpu : to_cpu;
                for (mix const each : all_mixes) {
                    // Of its own direction the ready stream is the third at most.
                    if (streams < 3 || each == mix::none || each == mix::then_only)
                        for (int i = 0; i < 4; ++i)
                            p.expect_done(submit(p.engine, way, list, each, ready.get()));
                    p.expect_done(submit(p.engine, other, list, each, ready.get()));
                }
                ready.synchronize();
                waiting.expect_to_wait_and_end(p);
            }
    p.expect_to_work(2);
}

// More than an engine keeps marks for.
TEST_P(batch_order_test, many_batches_pass_one_that_waits) {
    batch_program p;
    auto const list = p.pieces(1, 100);
    gated_stream ready;
    ready.open();
    waiting_streams waiting(p, 1, 1, copy_direction::to_cpu, mix::after_only);
    std::vector<copy_ticket> tickets;
    for (int i = 0; i < 300; ++i) {
        tickets.push_back(p.engine.gather(list));
        tickets.push_back(
            submit(p.engine, copy_direction::to_cpu, list, mix::after_and_then, ready.get()));
    }
    for (copy_ticket const each : tickets)
        p.expect_done(each);
    waiting.expect_to_wait_and_end(p);
}

// Where more streams wait than there are queues, they wait for each other and not for the other
// direction's.
TEST_P(batch_order_test, more_streams_than_queues_hold_up_their_own_direction_at_most) {
    batch_program p;
    auto const list = p.pieces(5, 100);
    gated_stream ready;
    ready.open();
    waiting_streams waiting(p, 9, 1, copy_direction::to_cpu, mix::after_and_then);
    for (mix const each : all_mixes)
        p.expect_done(submit(p.engine, copy_direction::to_gpu, list, each, ready.get()));
    p.expect_done(p.engine.gather(list));
    waiting.expect_to_wait_and_end(p);
}

/// Whether the action returns, by a value or an exception, while the gate is closed.
bool returns(auto action) {
    std::promise<void> done;
    std::thread runner([&] {
        try {
            action();
        } catch (error const&) {
            // It has returned.
        }
        done.set_value();
    });
    bool const has = done.get_future().wait_for(20s) == std::future_status::ready;
    if (!has)
        runner.detach();
    else
        runner.join();
    return has;
}

// A refusal waits for no stream, and keeps nobody from submitting.
TEST_P(batch_order_test, a_refused_batch_waits_for_nothing) {
    batch_program p;
    gated_stream held, other;
    other.open();
    auto const good = p.pieces(3, 100);
    std::vector<copy_piece> exchanged = good;
    exchanged.insert(exchanged.begin(), {p.host.address(), p.block.address(), 8});
    auto* const none = reinterpret_cast<CUstream>(std::uintptr_t{0x1230});
    auto const& held_stream = held;
    EXPECT_TRUE(returns([&] {
        EXPECT_THROW((void)p.engine.submit(copy_direction::to_cpu, exchanged,
                                           after{held_stream.get()}, then{held_stream.get()}),
                     error);
        EXPECT_THROW((void)p.engine.submit(copy_direction::to_cpu, exchanged,
                                           after{held_stream.get()}, then{other.get()}),
                     error);
        EXPECT_THROW((void)p.engine.submit(copy_direction::to_cpu, good, after{held_stream.get()},
                                           then{none}),
                     error);
        p.expect_done(p.engine.gather(good));
        p.expect_done(
            p.engine.submit(copy_direction::to_cpu, good, after{other.get()}, then{other.get()}));
    }));
    held.open();
    p.expect_to_work(2);
}

TEST_P(batch_order_test, sides_that_are_exchanged_are_refused_and_nothing_is_copied) {
    batch_program p;
    write_by_driver(p.block.address(), pattern(4096, 3));
    p.host.fill(pattern(4096, 4));
    std::vector<copy_piece> list{{p.host.address(), p.block.address(), 8},
                                 {p.block.address(), p.host.address() + 2048, 8}};
    for (auto const way : {copy_direction::to_cpu, copy_direction::to_gpu}) {
        expect_refusal(refusal_of([&] { (void)p.engine.submit(way, list); }),
                       errc::invalid_argument, "copy piece 0 of a batch");
        expect_refusal(refusal_of([&] { (void)p.engine.submit(way, list); }),
                       errc::invalid_argument, "are the two addresses exchanged?");
    }
    list[0] = {p.block.address(), p.block.address() + 64, 8};
    expect_refusal(refusal_of([&] { (void)p.engine.gather(list); }), errc::invalid_argument,
                   "its `host`");
    list[0] = {p.host.address() + 64, p.host.address(), 8};
    expect_refusal(refusal_of([&] { (void)p.engine.gather(list); }), errc::invalid_argument,
                   "its `gpu`");
    EXPECT_TRUE(read_by_driver(p.block.address(), 4096) == pattern(4096, 3));
    EXPECT_TRUE(std::ranges::equal(p.host.bytes().first(4096), pattern(4096, 4)));
    // What was host memory when it was last copied may be the GPU's now, and the other way round.
    p.expect_to_work(5);
}

// Addresses that are another memory's by now are asked for again before they are refused.
TEST(batch_refusal_test, memory_that_changed_sides_is_not_refused) {
    engine_machine machine("driver");
    (void)device::open(0); // loads the driver's table
    static std::vector<cuda::address_range> there;
    static int calls;
    cuda::driver_api told = cuda::api();
    told.pointer_get_attributes = [](unsigned, int* names, void** values, CUdeviceptr at) {
        ++calls;
        EXPECT_EQ(names[0], cuda::pointer_memory_type);
        for (cuda::address_range const& each : there) {
            if (!each.holds(at))
                continue;
            *static_cast<unsigned*>(values[0]) = each.side == cuda::memory_side::gpu
                                                     ? cuda::memory_type_device
                                                     : cuda::memory_type_host;
            *static_cast<int*>(values[1]) = each.side == cuda::memory_side::both;
            *static_cast<CUdeviceptr*>(values[2]) = each.begin;
            *static_cast<std::size_t*>(values[3]) = each.bytes;
        }
        return cuda::success;
    };
    cuda::replace_api(&told);
    using enum cuda::memory_side;
    known_memory remembered;
    std::vector<copy_piece> const list{{0x1010, 0x3000, 8}, {0x1ff0, 0x3008, 8}, {0x1000, 0x3100, 8}};
    there = {{0x1000, 0x1000, gpu}, {0x3000, 0x1000, host}};
    calls = 0;
    EXPECT_NO_THROW(expect_sides(list, remembered));
    EXPECT_NO_THROW(expect_sides(list, remembered));
    EXPECT_EQ(calls, 2) << "one for each allocation";
    // Exchanged, and larger than what was there.
    there = {{0x0800, 0x2000, host}, {0x2800, 0x2000, gpu}};
    std::vector<copy_piece> const back{{0x3010, 0x1010, 8}};
    EXPECT_NO_THROW(expect_sides(back, remembered));
    EXPECT_EQ(remembered.all.find(0x0900).bytes, 0x2000u);
    calls = 0;
    EXPECT_NO_THROW(expect_sides(back, remembered));
    EXPECT_EQ(calls, 0);
    expect_refusal(refusal_of([&] { expect_sides(list, remembered); }), errc::invalid_argument,
                   "its `gpu`, 0x1010, is host memory");
    // Managed memory is either; what CUDA does not know passes, and is asked for each time.
    there = {{0x10000, 0x1000, both}};
    std::vector<copy_piece> const either{{0x10000, 0x10800, 8}, {0x50000, 0x10800, 8}};
    EXPECT_NO_THROW(expect_sides(either, remembered));
    calls = 0;
    EXPECT_NO_THROW(expect_sides(either, remembered));
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(remembered.all.find(0x3010).side, gpu) << "others stay remembered";
    cuda::replace_api(nullptr);
}

// What CUDA's own copies refuse names the piece, its side and its address.
TEST(batch_refusal_test, what_cuda_does_not_know_is_named) {
    engine_machine machine("driver");
    batch_program p;
    std::vector<std::byte> const pageable(4096);
    auto const there = reinterpret_cast<std::uintptr_t>(pageable.data());
    std::vector<copy_piece> list(3, {p.block.address(), p.host.address(), 8});
    auto const expect = [&](copy_piece bad, std::string_view words,
                            errc code = errc::unsupported_memory) {
        list[2] = bad;
        auto const refusal = refusal_of([&] { (void)p.engine.gather(list); });
        expect_refusal(refusal, code, "copy piece 2 of a batch");
        expect_refusal(refusal, code, words);
    };
    expect({p.block.address(), there, 8}, "at its `host`");
    expect({p.block.address(), there, 8}, "cudaHostRegister");
    expect({there, p.host.address(), 8}, "at its `gpu`");
    expect({p.block.address(), p.host.address() + 8, batch_program::size}, "bytes at `host`",
           errc::out_of_range);
    expect({p.block.address() + 8, p.host.address(), batch_program::size},
           "reach beyond the allocation, which ends at", errc::out_of_range);
    std::uintptr_t gone = 0;
    {
        device_block const freed(mib);
        gone = freed.address();
        list[2] = {gone, p.host.address(), 8};
        p.expect_done(p.engine.gather(list));
    }
    expect({gone, p.host.address(), 8}, "no live allocation");
}

// Pieces of one allocation cost no call of the driver each.
TEST_P(batch_order_test, the_driver_is_asked_of_allocations_and_not_of_pieces) {
    batch_program p;
    auto const list = p.pieces(1000, 1000);
    static auto const real = cuda::api();
    static std::atomic<int> calls;
    calls = 0;
    cuda::driver_api counting = cuda::api();
    counting.pointer_get_attributes = [](unsigned count, int* names, void** values,
                                         CUdeviceptr at) {
        ++calls;
        return real.pointer_get_attributes(count, names, values, at);
    };
    cuda::replace_api(&counting);
    p.expect_done(p.engine.gather(list));
    p.expect_done(p.engine.gather(list));
    cuda::replace_api(nullptr);
    EXPECT_LE(calls, 4);
}

void expect_other_tickets_to_be_refused(char const* engine_name) {
    set_environment("BARMAP_SIM_DEVICES", "2");
    engine_machine machine(engine_name);
    auto const expect_refused = [](copy_engine const& engine, std::uint64_t value) {
        for (bool const waits : {false, true})
            expect_refusal(refusal_of([&] {
                               if (waits)
                                   (void)engine.wait(copy_ticket{value}, 1ms);
                               else
                                   (void)engine.done(copy_ticket{value});
                           }),
                           errc::invalid_argument, "give a ticket of this GPU's copy engine");
    };
    std::uint64_t old = 0;
    {
        batch_program p;
        old = static_cast<std::uint64_t>(p.engine.gather(p.pieces(3, 100)));
        p.expect_done(copy_ticket{old});
        for (std::uint64_t const distance : {std::uint64_t{1}, std::uint64_t{1000},
                                             std::uint64_t{1} << 40, std::uint64_t{1} << 44,
                                             std::uint64_t{9} << 44, std::uint64_t{15} << 44,
                                             std::uint64_t{1} << 48, std::uint64_t{1} << 63})
            expect_refused(p.engine, old + distance);
        expect_refused(p.engine, old & ~std::uint64_t{0xffff'ffff}); // its first, less one
        expect_refused(p.engine, 1);
        expect_refused(p.engine, ~std::uint64_t{0});
        machine->use(1);
        device const other = device::open(1);
        copy_engine another = other.copy_engine();
        expect_refused(another, old);
        device_block const block(4096);
        std::uint64_t const its = static_cast<std::uint64_t>(another.gather(
            std::vector<copy_piece>{{block.address(), p.host.address(), 8}}));
        expect_refused(p.engine, its);
        EXPECT_TRUE(another.wait(copy_ticket{its}, 20s));
        machine->use(0);
    }
    batch_program again;
    (void)again.engine.gather(again.pieces(3, 100));
    expect_refused(again.engine, old);
}

TEST(batch_ticket_test, one_that_this_channel_has_not_given_is_refused) {
    expect_other_tickets_to_be_refused("channel");
}

TEST(batch_ticket_test, one_that_this_driver_engine_has_not_given_is_refused) {
    expect_other_tickets_to_be_refused("driver");
}

// Four streams have waited once; now one does, and two queues are idle.
TEST_P(batch_order_test, a_stream_leaves_a_queue_that_it_shared) {
    batch_program p;
    constexpr auto to_cpu = copy_direction::to_cpu;
    auto const list = p.pieces(5, 100);
    gated_stream first, second, third, last;
    last.open();
    copy_ticket const held = p.engine.submit(to_cpu, list, after{first.get()});
    copy_ticket const also = p.engine.submit(to_cpu, list, after{second.get()});
    copy_ticket const too = p.engine.submit(to_cpu, list, after{third.get()});
    copy_ticket const behind = p.engine.submit(to_cpu, list, after{last.get()}); // behind the first
    second.open();
    third.open();
    p.expect_done(also);
    p.expect_done(too);
    p.expect_done(p.engine.submit(to_cpu, list, after{last.get()}));
    EXPECT_FALSE(p.engine.done(held));
    first.open();
    p.expect_done(held);
    p.expect_done(behind);
}

// A batch on the program's own stream ends before an earlier one of the same queue.
TEST(batch_queue_test, a_queue_in_which_one_batch_waits_is_not_idle) {
    engine_machine machine("driver");
    batch_program p;
    constexpr auto to_cpu = copy_direction::to_cpu;
    auto const list = p.pieces(5, 100);
    gated_stream first, second, third, shares, last;
    shares.open();
    last.open();
    copy_ticket const held = p.engine.submit(to_cpu, list, after{first.get()});
    copy_ticket const also = p.engine.submit(to_cpu, list, after{second.get()});
    copy_ticket const too = p.engine.submit(to_cpu, list, after{third.get()});
    p.expect_done(p.engine.submit(to_cpu, list, after{shares.get()}, then{shares.get()}));
    second.open();
    p.expect_done(also); // its queue is idle
    p.expect_done(p.engine.submit(to_cpu, list, after{last.get()}));
    first.open();
    third.open();
    p.expect_done(held);
    p.expect_done(too);
}

// CUDA records an event on streams of its own context only.
TEST(batch_queue_test, a_thread_with_a_context_of_its_own_may_submit) {
    engine_machine machine("driver");
    batch_program p;
    static cuda::driver_api real;
    static std::map<CUevent, CUcontext> made;
    real = cuda::api();
    cuda::driver_api strict = real;
    strict.event_create = [](CUevent* event, unsigned flags) {
        CUresult const result = real.event_create(event, flags);
        real.ctx_get_current(&made[*event]);
        return result;
    };
    strict.event_record = [](CUevent event, CUstream stream) {
        static CUcontext const first = made[event]; // of the engine's streams, too
        return made[event] == first ? real.event_record(event, stream) : CUresult{400};
    };
    cuda::replace_api(&strict);
    p.expect_done(p.engine.gather(p.pieces(5, 100)));
    CUcontext other = nullptr;
    expect_success(real.ctx_create(&other, 0, 0));
    p.expect_done(p.engine.gather(p.pieces(5, 100)));
    cuda::replace_api(nullptr);
    expect_success(real.ctx_destroy(other));
}

// The first copy is refused behind a stream that has not come: nothing is in flight.
TEST(batch_queue_test, a_refused_first_copy_waits_for_no_stream) {
    engine_machine machine("driver");
    batch_program p;
    gated_stream held;
    cuda::driver_api refusing = cuda::api();
    refusing.memcpy_async = [](CUdeviceptr, CUdeviceptr, std::size_t, CUstream) {
        return CUresult{1};
    };
    refusing.memcpy_batch_async = [](CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t,
                                     CUmemcpyAttributes*, std::size_t*, std::size_t, std::size_t*,
                                     CUstream) { return CUresult{1}; };
    cuda::replace_api(&refusing);
    auto const list = p.pieces(5, 100);
    expect_refusal(refusal_of([&] {
                       (void)p.engine.submit(copy_direction::to_cpu, list, after{held.get()});
                   }),
                   errc::unsupported_memory, "copy a batch");
    cuda::replace_api(nullptr);
    held.open();
    p.expect_to_work(1);
}

// CUDA keeps the caller in a call for a stream that has too much to do, until the stream goes on:
// here, when the long list that it waits for is done.
TEST(batch_room_test, a_submission_inside_a_call_of_cuda_does_not_stop_the_feeding) {
    engine_machine machine("channel");
    batch_program p;
    static batch_program* program;
    static copy_ticket first;
    static bool was_done;
    program = &p;
    gated_stream stream;
    stream.open();
    stream.synchronize();
    std::vector<copy_piece> const list(90'000, {p.block.address(), p.host.address(), 1});
    first = p.engine.submit(copy_direction::to_cpu, list, {}, then{stream.get()});
    static cuda::driver_api real;
    real = cuda::api();
    cuda::driver_api full = real;
    full.stream_wait_value32 = [](CUstream of, CUdeviceptr at, unsigned value, unsigned how) {
        was_done = program->engine.wait(first, 60s);
        return real.stream_wait_value32(of, at, value, how);
    };
    cuda::replace_api(&full);
    copy_ticket const second =
        p.engine.submit(copy_direction::to_cpu, p.pieces(3, 100), {}, then{stream.get()});
    cuda::replace_api(nullptr);
    EXPECT_TRUE(was_done);
    p.expect_done(second);
}

// More batches behind one stream than it has words for.
TEST(batch_room_test, more_batches_than_words_for_their_streams_wait_for_room) {
    engine_machine machine("channel");
    batch_program p;
    gated_stream held;
    constexpr std::size_t most = 8192;
    std::vector<copy_piece> const one{{p.block.address(), p.host.address(), 1}};
    std::atomic<std::size_t> submitted = 0;
    std::vector<copy_ticket> tickets(most + 500);
    std::thread submitter([&] {
        for (copy_ticket& each : tickets) {
            each = p.engine.submit(copy_direction::to_cpu, one, after{held.get()});
            ++submitted;
        }
    });
    while (submitted < most - 1)
        std::this_thread::yield();
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(submitted, most - 1);
    held.open();
    submitter.join();
    for (copy_ticket const each : tickets)
        p.expect_done(each);
}

// A stream that is late is not taken for memory that is not mapped.
TEST(batch_room_test, a_report_says_that_a_stream_was_late) {
    engine_machine machine("channel");
    batch_program p;
    gated_stream held;
    copy_ticket const late =
        p.engine.submit(copy_direction::to_cpu, p.pieces(5, 100), after{held.get(), 1ms});
    EXPECT_THROW((void)p.engine.wait(late, 20s), error);
    held.open();
    for (int i = 0; i < 2; ++i) {
        held.close();
        copy_ticket const again =
            p.engine.submit(copy_direction::to_cpu, p.pieces(5, 100), after{held.get(), 1ms});
        EXPECT_THROW((void)p.engine.wait(again, 20s), error);
        held.open();
    }
    EXPECT_THROW((void)p.engine.gather(p.pieces(5, 100)), error);
    EXPECT_NE(p.report("channel").reason.find("within its at_most"), std::string::npos)
        << p.report("channel").reason;
}

// Memory that runs out in the middle of a submission: nothing of the batch is in flight then.
TEST_P(batch_order_test, every_allocation_fails_once) {
    batch_program p;
    gated_stream stream;
    stream.open();
    auto const list = p.pieces(100, 600);
    std::vector<copy_piece> const large(70'000, {p.block.address(), p.host.address(), 1});
    auto const sent = pattern(batch_program::size, 3);
    write_by_driver(p.block.address(), sent);
    bool has_failed = true;
    for (unsigned n = 1; has_failed; ++n) {
        ASSERT_LT(n, 2000u);
        has_failed = false;
        for (bool const is_large : {false, true}) {
            std::optional<copy_ticket> ticket;
            {
                memory_shortage const one(n);
                try {
                    ticket = p.engine.submit(copy_direction::to_cpu, is_large ? large : list,
                                             after{stream.get()}, then{stream.get()});
                } catch (std::bad_alloc const&) {
                    // Nothing of it is in flight.
                } catch (error const&) {
                    // Or it was told otherwise.
                }
                has_failed |= one.has_failed();
            }
            stream.synchronize();
            if (ticket)
                p.expect_done(*ticket);
        }
    }
    p.expect_to_work(4);
    EXPECT_EQ(p.report(GetParam()).failures, 0u);
}

// A call of the driver, of the system or of the resource manager that fails in the middle: either
// the batch is done all the same, or nothing of it is in flight, and no stream waits for ever.
TEST_P(batch_order_test, every_call_fails_once) {
    for (auto const& [source, code] : {std::pair{fake::fault_source::cuda, 999},
                                       {fake::fault_source::system, EIO},
                                       {fake::fault_source::status, 0x56}}) {
        batch_program p;
        fake::cuda_watch const watched;
        auto const list = p.pieces(5, 100);
        auto const sent = pattern(batch_program::size, 3);
        write_by_driver(p.block.address(), sent);
        bool has_failed = true;
        for (unsigned n = 1; has_failed; ++n) {
            SCOPED_TRACE(testing::Message() << static_cast<int>(source) << ", call " << n);
            ASSERT_LT(n, 500u);
            // New streams, so that new queues are opened as long as there are any.
            gated_stream stream, other;
            stream.open();
            other.open();
            std::memset(p.host.bytes().data(), 0, batch_program::size);
            std::optional<copy_ticket> ticket;
            std::vector<std::byte> at_refusal;
            fake::the_faults().arm(source, n, code);
            try {
                ticket = p.engine.submit(n % 2 ? copy_direction::to_cpu : copy_direction::to_gpu,
                                         list, after{stream.get()}, then{other.get()});
            } catch (error const&) {
                at_refusal.assign(p.host.bytes().begin(), p.host.bytes().end());
            }
            has_failed = !fake::the_faults().fired().empty();
            fake::the_faults().disarm();
            stream.synchronize();
            other.synchronize();
            if (ticket)
                p.expect_done(*ticket);
            else
                EXPECT_TRUE(std::ranges::equal(p.host.bytes(), at_refusal)) << "it is in flight";
            p.expect_done(p.engine.gather(list));
        }
        EXPECT_EQ(p.report(GetParam()).failures, 0u);
        p.expect_to_work(4);
    }
}

// Long lists wait in host memory for room, and the submitter does not.
TEST(batch_room_test, a_list_longer_than_the_ring_does_not_stand_in_the_caller) {
    engine_machine machine("channel");
    batch_program p;
    auto const sent = pattern(batch_program::size, 3);
    write_by_driver(p.block.address(), sent);
    gated_stream held, behind;
    behind.open();
    // Every byte once, in no order, so that each piece counts.
    std::vector<copy_piece> list;
    constexpr std::size_t count = 80'000, bytes = 5;
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t const at = i * 7'777 % count * bytes;
        list.push_back({p.block.address() + at, p.host.address() + at, bytes});
    }
    copy_ticket first{}, second{}, third{};
    ASSERT_TRUE(returns([&] {
        first = p.engine.submit(copy_direction::to_cpu, list, after{held.get()}, then{behind.get()});
        second = p.engine.submit(copy_direction::to_cpu, std::span(list).first(40'000),
                                 after{held.get()});
        third = p.engine.submit(copy_direction::to_cpu, {}, after{held.get()}, then{behind.get()});
    }));
    EXPECT_FALSE(p.engine.wait(first, 20ms));
    EXPECT_FALSE(behind.is_idle());
    p.expect_done(p.engine.gather(std::span(list).first(3))); // another queue's
    std::memset(p.host.bytes().data(), 0, 64);
    held.open();
    p.expect_done(first);
    EXPECT_TRUE(std::equal(sent.begin(), sent.begin() + count * bytes, p.host.bytes().begin()));
    p.expect_done(third);
    p.expect_done(second);
    behind.synchronize();
    // Behind each other without a stream, and the engine goes with what waits.
    std::memset(p.host.bytes().data(), 0, batch_program::size);
    first = p.engine.gather(list);
    second = p.engine.gather(list);
    p.expect_done(second);
    EXPECT_TRUE(p.engine.done(first));
    EXPECT_TRUE(std::equal(sent.begin(), sent.begin() + count * bytes, p.host.bytes().begin()));
}

TEST(batch_room_test, what_waits_for_room_fails_with_its_channel) {
    engine_machine machine("channel");
    batch_program p;
    p.expect_to_work(1);
    machine.gpu().stall();
    std::vector<copy_piece> const list(150'000, {p.block.address(), p.host.address(), 1});
    copy_ticket const first = p.engine.gather(list), second = p.engine.gather(list);
    for (copy_ticket const each : {first, second})
        EXPECT_THROW((void)p.engine.wait(each, 20s), error);
    machine.gpu().resume();
    p.expect_to_work(2);
}

// What is done when its channel fails stays done, up to the last of them.
TEST(batch_room_test, the_last_batch_before_a_failure_stays_done) {
    engine_machine machine("channel");
    batch_program p;
    std::vector<copy_ticket> tickets;
    for (int i = 0; i < 5; ++i)
        tickets.push_back(p.engine.gather(p.pieces(3, 100)));
    p.expect_done(tickets.back());
    machine.gpu().stall();
    copy_ticket const bad = p.engine.gather(p.pieces(3, 100));
    EXPECT_THROW((void)p.engine.wait(bad, 20s), error);
    for (copy_ticket const each : tickets)
        EXPECT_TRUE(p.engine.done(each));
    machine.gpu().resume();
}

// Behind long work a batch waits; only its own limit fails it, and only once it is its turn.
TEST(batch_room_test, a_limit_does_not_fail_what_is_behind_long_work) {
    engine_machine machine("channel");
    batch_program p;
    gated_stream held;
    auto const list = p.pieces(5, 100);
    copy_ticket const patient = p.engine.submit(copy_direction::to_cpu, list, after{held.get()});
    held.close();
    copy_ticket const behind =
        p.engine.submit(copy_direction::to_cpu, list, after{held.get(), 1ms});
    EXPECT_FALSE(p.engine.wait(behind, 200ms)) << "the batch before it still waits";
    EXPECT_FALSE(p.engine.done(patient));
    held.open();
    p.expect_done(patient);
    p.expect_done(behind);
    EXPECT_EQ(p.report("channel").failures, 0u);
}

// A channel that stands still after its stream has come is late all the same.
TEST(batch_room_test, a_batch_whose_stream_has_come_is_late_when_it_stands_still) {
    engine_machine machine("channel");
    batch_program p;
    p.expect_to_work(1);
    gated_stream held;
    copy_ticket const ticket =
        p.engine.submit(copy_direction::to_cpu, p.pieces(5, 100), after{held.get()});
    machine.gpu().stall();
    EXPECT_FALSE(p.engine.wait(ticket, 300ms)) << "a batch that waits for its stream is not late";
    held.open();
    EXPECT_THROW((void)p.engine.wait(ticket, 20s), error);
    machine.gpu().resume();
    p.expect_to_work(2);
}

} // namespace
} // namespace barmap::contract
