// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "contract/memory_shortage.hpp"
#include "fake/cuda_watch.hpp"
#include "fake/faults.hpp"

#include <new>

/// What batches promise while something waits or fails (core/include/barmap/batch_queue.hpp,
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

batch_ticket submit(batch_queue& queue, copy_direction way, std::span<copy_piece const> list,
                    mix how, CUstream stream) {
    std::optional<after> begin;
    std::optional<then> end;
    if (how == mix::after_only || how == mix::after_and_then)
        begin = after{stream};
    if (how == mix::then_only || how == mix::after_and_then)
        end = then{stream};
    return queue.submit(going(way, list), begin, end);
}

/// Streams that come no further until they are opened, each with batches that wait for it.
struct waiting_streams {
    waiting_streams(batch_program& p, std::size_t streams, std::size_t batches, copy_direction way,
                    mix how) {
        auto const list = p.pieces(5, 100);
        for (std::size_t i = 0; i < streams; ++i) {
            all.push_back(std::make_unique<gated_stream>());
            for (std::size_t k = 0; k < batches; ++k)
                tickets.push_back(submit(p.queue, way, list, how, all.back()->get()));
        }
    }
    void expect_to_wait_and_end(batch_program& p) {
        for (batch_ticket const each : tickets)
            EXPECT_FALSE(p.queue.done(each));
        for (auto const& each : all)
            each->open();
        for (batch_ticket const each : tickets)
            p.expect_done(each);
    }
    std::vector<std::unique_ptr<gated_stream>> all;
    std::vector<batch_ticket> tickets;
};

// As many batches behind each as there are queues, so that none is left if they are shared out.
TEST_P(batch_order_test, streams_that_wait_hold_up_no_other_stream) {
    constexpr auto to_cpu = copy_direction::to_cpu, to_gpu = copy_direction::to_gpu;
    batch_program p;
    auto const list = p.pieces(5, 100);
    open_stream ready;
    for (std::size_t streams : {0U, 1U, 2U, 3U})
        for (mix const held : {mix::after_only, mix::after_and_then})
            for (auto const way : {to_cpu, to_gpu}) {
                SCOPED_TRACE(testing::Message()
                             << streams << ' ' << static_cast<int>(held) << ' ' << to_string(way));
                waiting_streams waiting(p, streams, 5, way, held);
                auto const other = way == to_cpu ? to_gpu : to_cpu;
                for (mix const each : all_mixes) {
                    // Of its own direction the ready stream is the third at most.
                    if (streams < 3 || each == mix::none || each == mix::then_only)
                        for (int i = 0; i < 4; ++i)
                            p.expect_done(submit(p.queue, way, list, each, ready.get()));
                    p.expect_done(submit(p.queue, other, list, each, ready.get()));
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
    open_stream ready;
    waiting_streams waiting(p, 1, 1, copy_direction::to_cpu, mix::after_only);
    std::vector<batch_ticket> tickets;
    for (int i = 0; i < 300; ++i) {
        tickets.push_back(p.queue.submit(list));
        tickets.push_back(
            submit(p.queue, copy_direction::to_cpu, list, mix::after_and_then, ready.get()));
    }
    for (batch_ticket const each : tickets)
        p.expect_done(each);
    waiting.expect_to_wait_and_end(p);
}

// Where more streams wait than there are queues, they wait for each other and not for the other
// direction's.
TEST_P(batch_order_test, more_streams_than_queues_hold_up_their_own_direction_at_most) {
    batch_program p;
    auto const list = p.pieces(5, 100);
    open_stream ready;
    waiting_streams waiting(p, 9, 1, copy_direction::to_cpu, mix::after_and_then);
    for (mix const each : all_mixes)
        p.expect_done(submit(p.queue, copy_direction::to_gpu, list, each, ready.get()));
    p.expect_done(p.queue.submit(list));
    waiting.expect_to_wait_and_end(p);
}

// Of a mixture the first piece says which direction's queues it takes.
TEST_P(batch_order_test, the_first_piece_chooses_the_direction) {
    batch_program p;
    open_stream ready;
    std::vector<copy_piece> list = p.pieces(2, 100);
    std::swap(list[0].to, list[0].from);
    for (auto const held : {copy_direction::to_cpu, copy_direction::to_gpu}) {
        waiting_streams waiting(p, 3, 1, held, mix::after_only);
        p.expect_done(p.queue.submit(list, after{ready.get()}));
        waiting.expect_to_wait_and_end(p);
        std::ranges::reverse(list);
    }
}

// A refusal waits for no stream, and keeps nobody from submitting.
TEST_P(batch_order_test, a_refused_batch_waits_for_nothing) {
    batch_program p;
    gated_stream held;
    open_stream other;
    auto const good = p.pieces(3, 100);
    std::vector<copy_piece> bad = good;
    bad.push_back({p.host.address(), 0, 8});
    auto* const none = reinterpret_cast<CUstream>(std::uintptr_t{0x1230});
    auto const& held_stream = held;
    EXPECT_TRUE(returns([&] {
        EXPECT_THROW((void)p.queue.submit(bad, after{held_stream.get()}, then{held_stream.get()}),
                     error);
        EXPECT_THROW((void)p.queue.submit(bad, after{held_stream.get()}, then{other.get()}), error);
        EXPECT_THROW((void)p.queue.submit(good, after{held_stream.get()}, then{none}), error);
        p.expect_done(p.queue.submit(good));
        p.expect_done(p.queue.submit(good, after{other.get()}, then{other.get()}));
    }));
    held.open();
    p.expect_to_work(2);
}

// Four streams have waited once; now one does, and two queues are idle.
TEST_P(batch_order_test, a_stream_leaves_a_queue_that_it_shared) {
    batch_program p;
    auto const list = p.pieces(5, 100);
    gated_stream first, second, third;
    open_stream last;
    batch_ticket const held = p.queue.submit(list, after{first.get()});
    batch_ticket const also = p.queue.submit(list, after{second.get()});
    batch_ticket const too = p.queue.submit(list, after{third.get()});
    batch_ticket const behind = p.queue.submit(list, after{last.get()}); // behind the first
    second.open();
    third.open();
    p.expect_done(also);
    p.expect_done(too);
    p.expect_done(p.queue.submit(list, after{last.get()}));
    EXPECT_FALSE(p.queue.done(held));
    first.open();
    p.expect_done(held);
    p.expect_done(behind);
}

// Memory that runs out in the middle of a submission: nothing of the batch is in flight then.
TEST_P(batch_order_test, every_allocation_fails_once) {
    batch_program p;
    open_stream stream;
    auto const list = p.pieces(100, 600);
    std::vector<copy_piece> const large(70'000, {p.host.address(), p.block.address(), 1});
    auto const sent = pattern(batch_program::size, 3);
    write_by_driver(p.block.address(), sent);
    bool has_failed = true;
    for (unsigned n = 1; has_failed; ++n) {
        ASSERT_LT(n, 2000u);
        has_failed = false;
        for (bool const is_large : {false, true}) {
            std::optional<batch_ticket> ticket;
            {
                memory_shortage const one(n);
                try {
                    ticket = p.queue.submit(is_large ? large : list, after{stream.get()},
                                            then{stream.get()});
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
            open_stream stream, other;
            std::memset(p.host.bytes().data(), 0, batch_program::size);
            std::optional<batch_ticket> ticket;
            std::vector<std::byte> at_refusal;
            fake::the_faults().arm(source, n, code);
            try {
                auto const way = n % 2 ? copy_direction::to_cpu : copy_direction::to_gpu;
                ticket = p.queue.submit(going(way, list), after{stream.get()}, then{other.get()});
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
                EXPECT_TRUE(same_bytes(p.host.bytes(), at_refusal)) << "it is in flight";
            p.expect_done(p.queue.submit(list));
        }
        EXPECT_EQ(p.report(GetParam()).failures, 0u);
        p.expect_to_work(4);
    }
}

} // namespace
} // namespace barmap::contract
