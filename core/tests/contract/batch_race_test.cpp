// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "shared/changed_calls.hpp"
#include "transfer/engine/channel/channel_queue.hpp"
#include "transfer/engine/engine.hpp"

#include <barrier>
#include <functional>
#include <pthread.h>

/// What batches of several threads and streams do to each other, and what is refused meanwhile.
namespace barmap::contract {
namespace {

// Large batches against those of the other way go by an engine of CUDA's, on lanes of their own.
TEST(batch_race_test, ways_against_each_other_have_their_own_lanes) {
    engine_machine machine("channel");
    batch_program p;
    constexpr std::size_t half = mib / 2;
    device_block const more(2 * mib);
    pinned_block const there(2 * mib);
    auto const sent = pattern(2 * mib, 5);
    write_by_driver(more.address(), sent);
    std::vector<copy_piece> large;
    for (std::size_t at = 0; at < 2 * mib; at += half)
        large.push_back({there.address() + at, more.address() + at, half});
    machine.gpu().hold(own_engine);
    batch_ticket const first = p.queue.submit(turned(p.pieces(5, 100)));
    p.expect_done(p.queue.submit(large));
    EXPECT_TRUE(same_bytes(there.bytes(), sent));
    EXPECT_NE(machine.gpu().done().engine_type, own_engine);
    // More streams that wait than there are queues.
    std::vector<std::unique_ptr<gated_stream>> streams;
    std::vector<batch_ticket> tickets;
    std::memset(there.bytes().data(), 0, 2 * mib);
    for (int i = 0; i < 5; ++i) {
        streams.push_back(std::make_unique<gated_stream>());
        tickets.push_back(
            p.queue.submit(large, after{streams.back()->get()}, then{streams.back()->get()}));
    }
    p.expect_done(p.queue.submit(large));
    for (batch_ticket const each : tickets)
        EXPECT_FALSE(p.queue.done(each));
    EXPECT_FALSE(p.queue.done(first));
    for (auto const& each : streams)
        each->open();
    machine.gpu().release(); // which those that found no queue on the other engines wait for
    for (batch_ticket const each : tickets)
        p.expect_done(each);
    p.expect_done(first);
    p.expect_to_work(3);
    EXPECT_EQ(p.report("channel").failures, 0u);
}

// Batches that have ended have no part in how long the next one may take.
TEST(batch_race_test, a_limit_is_counted_from_its_submission) {
    engine_machine machine("channel");
    batch_program p;
    open_stream held;
    for (int i = 0; i < 20; ++i)
        p.expect_done(p.queue.submit(p.pieces(5, 100), after{held.get(), std::chrono::hours(1)}));
    held.close();
    batch_ticket const late =
        p.queue.submit(p.pieces(5, 100), after{held.get(), 1ms}, then{held.get()});
    EXPECT_THROW((void)p.queue.wait(late, 20s), error);
    held.open();
}

// Two that come at once do not choose the same one.
TEST(batch_race_test, streams_that_come_at_once_get_lanes_of_their_own) {
    engine_machine machine("channel");
    batch_program p;
    auto const list = p.pieces(5, 100);
    for (int round = 0; round < 300; ++round) {
        std::array<gated_stream, 2> streams;
        std::array<batch_ticket, 2> tickets{};
        std::barrier together(2);
        std::vector<std::thread> both;
        for (std::size_t i = 0; i < 2; ++i)
            both.emplace_back([&, i] {
                together.arrive_and_wait();
                tickets[i] = p.queue.submit(std::span(list).subspan(i, 1), after{streams[i].get()});
            });
        for (std::thread& each : both)
            each.join();
        for (std::size_t i : {1U, 0U}) {
            streams[i].open();
            ASSERT_TRUE(p.queue.wait(tickets[i], 2s)) << round << ", stream " << i;
        }
    }
}

/// While it lives, no thread can be made: none has so large a stack.
class no_threads {
public:
    no_threads() {
        pthread_getattr_default_np(&before_);
        pthread_attr_t huge;
        pthread_getattr_default_np(&huge);
        pthread_attr_setstacksize(&huge, std::size_t{1} << 47);
        EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
        pthread_attr_destroy(&huge);
    }
    no_threads(no_threads const&) = delete;
    no_threads& operator=(no_threads const&) = delete;
    ~no_threads() {
        pthread_setattr_default_np(&before_);
        pthread_attr_destroy(&before_);
    }

private:
    pthread_attr_t before_{};
};

// The channel's watcher is started with it, so that no later submission needs a thread.
TEST(batch_race_test, a_channel_is_not_started_without_its_thread) {
    engine_machine machine("channel");
    device const gpu = device::open(0);
    {
        auto const good = engine::registry().front().make(identify(0), engine::lane::cuda);
        good->start(); // what CUDA keeps after its first use
    }
    fake::left_over const before = machine->held();
    {
        auto const engine = engine::registry().front().make(identify(0), engine::lane::cuda);
        no_threads const none;
        expect_refusal([&] { engine->start(); }, errc::backend_broken, "ulimit -u");
    }
    EXPECT_EQ(machine->held(), before);
}

TEST(batch_race_test, a_started_channel_needs_no_other_thread) {
    engine_machine machine("channel");
    batch_program p;
    open_stream stream;
    {
        no_threads const none;
        p.expect_done(p.queue.submit(p.pieces(5, 100), after{stream.get()}, then{stream.get()}));
        batch_ticket const bad = p.queue.submit(p.unmapped(), {}, then{stream.get()});
        EXPECT_THROW((void)p.queue.wait(bad, 20s), error);
        stream.synchronize();
    }
    p.expect_to_work(2);
}

// A handle's end ends no batch: its stream would go on without the bytes.
TEST(batch_race_test, the_last_handle_waits_for_what_is_under_way) {
    engine_machine machine("channel");
    device const gpu = device::open(0);
    device_block const block(mib);
    pinned_block const host(mib), seen(mib);
    auto const sent = pattern(mib, 5);
    write_by_driver(block.address(), sent);
    for (int round = 0; round < 10; ++round) {
        std::memset(host.bytes().data(), 0, mib);
        gated_stream stream;
        std::thread opener;
        {
            batch_queue queue = gpu.batch_queue();
            (void)queue.submit(std::vector<copy_piece>{{host.address(), block.address(), mib}},
                               after{stream.get()}, then{stream.get()});
            stream.copy(seen.address(), host.address(), mib);
            opener = std::thread([&] {
                std::this_thread::sleep_for(20ms);
                stream.open();
            });
        }
        opener.join();
        stream.synchronize();
        EXPECT_TRUE(same_bytes(seen.bytes(), sent)) << round;
    }
}

// The word that a stream is to wait for is there until it has come there.
TEST(batch_race_test, the_last_handle_waits_for_streams_that_look_for_its_end) {
    engine_machine machine("channel");
    device const gpu = device::open(0);
    device_block const block(mib);
    pinned_block const host(mib);
    gated_stream stream;
    std::thread opener;
    {
        batch_queue queue = gpu.batch_queue();
        (void)queue.submit(std::vector<copy_piece>{{host.address(), block.address(), mib}}, {},
                           then{stream.get()});
        opener = std::thread([&] {
            std::this_thread::sleep_for(50ms);
            stream.open();
        });
    }
    opener.join();
    stream.synchronize();
}

// One thread waits for room, behind a stream that another one is to open when it has looked.
TEST(batch_race_test, who_looks_does_not_wait_for_who_submits) {
    for (char const* const name : {"driver", "channel"}) {
        engine_machine machine(name);
        batch_program p;
        gated_stream held;
        auto const list = p.pieces(260, 100);
        std::array<batch_ticket, 260> tickets{};
        std::atomic<int> submitted = 0;
        std::thread submitter([&] {
            for (std::size_t i = 0; i < tickets.size(); ++i, ++submitted)
                tickets[i] = p.queue.submit(std::span(list).subspan(i, 1), after{held.get()});
        });
        while (submitted < 250)
            std::this_thread::yield();
        std::this_thread::sleep_for(20ms);
        std::atomic<bool> has_looked = false;
        std::thread looker([&] {
            EXPECT_FALSE(p.queue.done(tickets[0]));
            EXPECT_FALSE(p.queue.wait(tickets[0], 1ms));
            has_looked = true;
        });
        auto const until = std::chrono::steady_clock::now() + 10s;
        while (!has_looked && std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(1ms);
        EXPECT_TRUE(has_looked) << name;
        held.open();
        looker.join();
        submitter.join();
        for (batch_ticket const each : tickets)
            p.expect_done(each);
        p.expect_to_work(2);
    }
}

/// The system's calls, of which the first ioctl from now on does something else before.
class next_ioctl : changed_calls {
public:
    explicit next_ioctl(std::function<void()> first) {
        first_ = std::move(first);
        table.ioctl = [](int fd, unsigned long request, void* argument) {
            if (auto const now = std::exchange(first_, nullptr))
                now();
            return real.ioctl(fd, request, argument);
        };
    }

private:
    static inline std::function<void()> first_;
};

// The list of what waits for room goes with the channel.
TEST(batch_race_test, nothing_is_fed_to_a_channel_while_it_is_stopped) {
    engine_machine machine("channel");
    engine::cuda_session session(identify(0));
    engine::channel_queue queue(session, session.engines.front().type);
    std::atomic<bool> has_fed = false;
    bool fed_meanwhile = true;
    std::thread feeder;
    {
        next_ioctl const of_the_end([&] {
            feeder = std::thread([&] {
                (void)queue.feed();
                has_fed = true;
            });
            for (int i = 0; i < 100 && !has_fed; ++i)
                std::this_thread::sleep_for(1ms);
            fed_meanwhile = has_fed;
        });
        EXPECT_TRUE(queue.stop());
    }
    EXPECT_FALSE(fed_meanwhile);
    ASSERT_TRUE(feeder.joinable());
    feeder.join();
    EXPECT_TRUE(has_fed);
}

// A call that is refused after the copies were ordered: they have ended when it is told.
TEST(batch_race_test, what_the_driver_cannot_order_is_not_under_way) {
    engine_machine machine("driver");
    batch_program p;
    auto const sent = pattern(mib, 5);
    write_by_driver(p.block.address(), sent);
    gated_stream before;
    open_stream behind;
    static CUstream refused;
    refused = behind.get();
    changed_driver refusing;
    refusing->stream_wait_event = [](CUstream stream, CUevent event, unsigned flags) {
        return stream == refused ? CUresult{400}
                                 : changed_driver::real.stream_wait_event(stream, event, flags);
    };
    std::thread opener([&] {
        std::this_thread::sleep_for(50ms);
        before.open();
    });
    EXPECT_THROW(
        (void)p.queue.submit(std::vector<copy_piece>{{p.host.address(), p.block.address(), mib}},
                             after{before.get()}, then{behind.get()}),
        error);
    bool const has_ended = same_bytes(p.host.bytes(), sent);
    refusing.restore();
    opener.join();
    EXPECT_TRUE(has_ended);
    p.expect_to_work(2);
}

} // namespace
} // namespace barmap::contract
