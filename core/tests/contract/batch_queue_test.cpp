// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"

#include <iterator>
#include <map>
#include <tuple>
#include <vector>

/// The queues of CUDA's own copies.
namespace barmap::contract {
namespace {

// A batch on the program's own stream ends before an earlier one of the same queue.
TEST(batch_queue_test, a_queue_in_which_one_batch_waits_is_not_idle) {
    engine_machine machine("driver");
    batch_program p;
    auto const list = p.pieces(5, 100);
    gated_stream first, second, third;
    open_stream shares, last;
    batch_ticket const held = p.queue.submit(list, after{first.get()});
    batch_ticket const also = p.queue.submit(list, after{second.get()});
    batch_ticket const too = p.queue.submit(list, after{third.get()});
    p.expect_done(p.queue.submit(list, after{shares.get()}, then{shares.get()}));
    second.open();
    p.expect_done(also); // its queue is idle
    p.expect_done(p.queue.submit(list, after{last.get()}));
    first.open();
    third.open();
    p.expect_done(held);
    p.expect_done(too);
}

// CUDA records an event on streams of its own context only.
TEST(batch_queue_test, a_thread_with_a_context_of_its_own_may_submit) {
    engine_machine machine("driver");
    batch_program p;
    static std::map<CUevent, CUcontext> made;
    changed_driver strict;
    strict->event_create = [](CUevent* event, unsigned flags) {
        CUresult const result = changed_driver::real.event_create(event, flags);
        changed_driver::real.ctx_get_current(&made[*event]);
        return result;
    };
    strict->event_record = [](CUevent event, CUstream stream) {
        static CUcontext const first = made[event]; // the context of the engine's streams as well
        return made[event] == first ? changed_driver::real.event_record(event, stream)
                                    : CUresult{400};
    };
    p.expect_done(p.queue.submit(p.pieces(5, 100)));
    CUcontext other = nullptr;
    expect_success(cuda::api().ctx_create(&other, 0, 0));
    p.expect_done(p.queue.submit(p.pieces(5, 100)));
    strict.restore();
    expect_success(cuda::api().ctx_destroy(other));
}

TEST(batch_queue_test, tries_the_batch_call_before_the_first_batch) {
    engine_machine machine("driver");
    static int tried;
    tried = 0;
    changed_driver counting;
    counting->memcpy_batch_async = [](CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes,
                                      std::size_t count, auto... others) {
        ++tried;
        std::map<CUdeviceptr, std::size_t> targets; // the pieces of a call have no order
        for (std::size_t i = 0; i < count; ++i)
            EXPECT_TRUE(targets.emplace(to[i], bytes[i]).second);
        for (auto each = targets.begin(); std::next(each) != targets.end(); ++each)
            EXPECT_LE(each->first + each->second, std::next(each)->first);
        return changed_driver::real.memcpy_batch_async(to, from, bytes, count, others...);
    };
    batch_program const p;
    EXPECT_GT(tried, 0);
}

// CUDA's call takes none of them, and that of each thread is another stream in another thread. What
// follows in them waits for the batch.
TEST(batch_queue_test, the_batch_call_gets_no_default_stream) {
    engine_machine machine("driver");
    batch_program p;
    static int calls, of_default;
    static std::vector<CUstream> waiting;
    calls = of_default = 0;
    waiting.clear();
    changed_driver watching;
    watching->stream_wait_event = [](auto... arguments) {
        waiting.push_back(std::get<0>(std::tuple(arguments...)));
        return changed_driver::real.stream_wait_event(arguments...);
    };
    watching->memcpy_batch_async = [](auto... arguments) {
        auto const given = std::get<sizeof...(arguments) - 1>(std::tuple(arguments...));
        ++calls;
        of_default += reinterpret_cast<std::uintptr_t>(given) <= 2;
        return changed_driver::real.memcpy_batch_async(arguments...);
    };
    for (std::uintptr_t const each : {0, 1, 2}) {
        auto* const stream = reinterpret_cast<CUstream>(each);
        p.expect_done(p.queue.submit(p.pieces(5, 100), after{stream}, then{stream}));
        EXPECT_TRUE(!waiting.empty() && waiting.back() == stream) << each;
    }
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(of_default, 0);
}

// The first copy is refused behind a stream that has not come: nothing is in flight.
TEST(batch_queue_test, a_refused_first_copy_waits_for_no_stream) {
    engine_machine machine("driver");
    batch_program p;
    gated_stream held;
    changed_driver refusing;
    refusing->memcpy_async = [](CUdeviceptr, CUdeviceptr, std::size_t, CUstream) {
        return CUresult{1};
    };
    refusing->memcpy_batch_async = [](CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t,
                                      CUmemcpyAttributes*, std::size_t*, std::size_t, std::size_t*,
                                      CUstream) { return CUresult{1}; };
    auto const list = p.pieces(5, 100);
    expect_refusal([&] { (void)p.queue.submit(list, after{held.get()}); }, errc::unsupported_memory,
                   "copy a batch");
    refusing.restore();
    held.open();
    p.expect_to_work(1);
}

// So many events mark the ends of a queue's batches.
TEST(batch_queue_test, an_event_marks_a_later_batch_once_the_earlier_one_is_done) {
    constexpr int most_in_flight = 1024;
    engine_machine machine("driver");
    batch_program p;
    static gated_stream* waited_for;
    static int waits;
    gated_stream held;
    waited_for = &held;
    waits = 0;
    changed_driver watching;
    watching->event_synchronize = [](CUevent event) {
        ++waits;
        waited_for->open();
        return changed_driver::real.event_synchronize(event);
    };
    std::vector<copy_piece> const list{{p.block.address(), p.host.address(), 1}};
    batch_ticket const first = p.queue.submit(list, after{held.get()});
    for (int i = 1; i < most_in_flight; ++i)
        (void)p.queue.submit(list, after{held.get()});
    EXPECT_EQ(waits, 0);
    EXPECT_FALSE(p.queue.done(first));
    batch_ticket const next = p.queue.submit(list, after{held.get()});
    EXPECT_EQ(waits, 1);
    held.open();
    p.expect_done(first);
    p.expect_done(next);
}

} // namespace
} // namespace barmap::contract
