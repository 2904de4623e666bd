// SPDX-License-Identifier: MIT
#include "contract/memcpy_fixture.hpp"

#include <thread>

/// Who is told of a batch that has failed after its call.
namespace barmap::contract {
namespace {

using memcpy_dropin::reason;

/// Submits a batch that fails: from an address that CUDA has not mapped, but says to know.
void submit_one_that_fails(copies given) {
    given.from[70] = 0x10;
    changed_driver lying;
    lying->pointer_get_attributes = [](unsigned count, int* names, void** values, CUdeviceptr at) {
        CUresult const result =
            changed_driver::real.pointer_get_attributes(count, names, values, at);
        for (unsigned i = 0; i < count && at == 0x10; ++i) {
            if (names[i] == cuda::pointer_memory_type)
                *static_cast<unsigned*>(values[i]) = cuda::memory_type_device;
            else if (names[i] == cuda::pointer_device_ordinal)
                *static_cast<int*>(values[i]) = 0;
            else if (names[i] == cuda::pointer_range_start_addr)
                *static_cast<CUdeviceptr*>(values[i]) = 0x10;
            else if (names[i] == cuda::pointer_range_size)
                *static_cast<std::size_t*>(values[i]) = mib;
        }
        return result;
    };
    EXPECT_EQ(copy_by(copier::dropin, given), cuda::success);
}

// The failure comes with the next call, as those of CUDA's asynchronous copies do; then CUDA
// copies.
TEST(memcpy_failure, is_told_once_and_then_the_driver_copies) {
    memcpy_program m("channel");
    m.expect_ready();
    open_stream const stream;
    copies const next{m.p.pieces(100, 200), stream.get()};
    testing::internal::CaptureStderr();
    submit_one_that_fails(next);
    stream.synchronize(); // it is released
    EXPECT_EQ(copy_by(copier::dropin, next), 700);
    m.expect_passed(next, reason::off);
    m.expect_passed(next, reason::off);
    std::string const said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("CUDA copies all batches from now on: a batch of copies has failed"),
              std::string::npos)
        << said;
    EXPECT_EQ(said.find("from now on"), said.rfind("from now on")) << "said once";
}

// A batch of another stream that has not come hides nothing, and no engine is started in a call.
TEST(memcpy_failure, is_told_while_another_stream_waits) {
    memcpy_program m("channel");
    m.expect_ready();
    gated_stream held;
    open_stream const stream;
    auto const list = m.p.pieces(100, 200);
    copies const next{list, stream.get()};
    EXPECT_EQ(copy_by(copier::dropin, {list, held.get()}), cuda::success);
    submit_one_that_fails(next);
    stream.synchronize(); // it is released
    opened_here const queues;
    EXPECT_EQ(copy_by(copier::dropin, next), 700);
    EXPECT_EQ(queues.count, 0);
    m.expect_left(next.call(), reason::off);
    held.open();
    held.synchronize();
}

// What CUDA copies without a question, behind other work, tells nothing.
TEST(memcpy_failure, is_told_by_the_next_batch_that_is_judged) {
    memcpy_program m("channel");
    m.expect_ready();
    large_memory const memory(63 * 8 * kib);
    open_stream const stream;
    copies const failing{m.p.pieces(100, 200), stream.get()};
    gated_stream busy;
    copies const behind{memory.to_cpu(63, 8 * kib), busy.get()};
    m.expect_left(behind.call(), reason::behind_work);
    CUcontext current = nullptr;
    expect_success(cuda::api().ctx_get_current(&current));
    std::thread([&] {
        expect_success(cuda::api().ctx_set_current(current));
        submit_one_that_fails(failing);
        stream.synchronize(); // it is released
    }).join();
    for (int i = 0; i < 7; ++i)
        m.expect_left(behind.call(), reason::behind_work);
    EXPECT_EQ(copy_by(copier::dropin, behind), 700);
    busy.open();
    busy.synchronize();
}

// Also before anybody has found which batches have failed.
TEST(memcpy_failure, is_told_where_the_engine_has_stopped) {
    memcpy_program m("channel");
    m.expect_ready();
    open_stream const stream, other;
    copies const next{m.p.pieces(100, 200), stream.get()};
    expect_success(cuda::api().ctx_synchronize());
    (void)m.p.queue.submit(m.p.unmapped(), after{other.get()}, then{other.get()});
    other.synchronize(); // the engine has stopped, by a batch that is not the drop-in's
    opened_here const queues;
    EXPECT_EQ(copy_by(copier::dropin, next), 700);
    EXPECT_EQ(queues.count, 0);
    m.expect_left(next.call(), reason::off);
}

TEST(memcpy_failure, is_told_at_the_exit) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            memcpy_program m("channel");
            m.expect_ready();
            open_stream const stream;
            submit_one_that_fails({m.p.pieces(100, 200), stream.get()});
            stream.synchronize();
            std::exit(0);
        },
        testing::ExitedWithCode(0), "a batch of copies has failed");
}

// Nobody knows what is still copied, so that the driver may not copy it again. Takes the 10 seconds
// for which the engine waits.
TEST(memcpy_failure, what_may_be_in_flight_is_not_copied_again) {
    memcpy_program m("driver");
    m.expect_ready();
    open_stream const stream;
    copies const given{m.p.pieces(100, 200), stream.get()};
    changed_driver stuck;
    stuck->event_record = [](CUevent, CUstream) { return CUresult{719}; };
    stuck->stream_query = [](CUstream) { return cuda::error_not_ready; };
    auto const taken = memcpy_dropin::take(given.call());
    ASSERT_TRUE(taken);
    EXPECT_EQ(*taken, cuda::error_unknown);
    m.expect_left(given.call(), reason::off);
}

} // namespace
} // namespace barmap::contract
