// SPDX-License-Identifier: MIT
#include "base/config.hpp"
#include "contract/memcpy_fixture.hpp"

#include <chrono>

/// The sizes from which, and up to which, libbarmap-memcpy takes a batch, by its direction.
namespace barmap::contract {
namespace {

using memcpy_dropin::limits;
using memcpy_dropin::reason;

// The first use in its process reads them: ctest gives each test a process.
TEST(memcpy_limits, are_those_of_the_policy) {
    ::setenv("BARMAP_POLICY",
             "taken_piece=4,taken_large_piece=5,taken_large_batch=6,taken_small_piece=7,"
             "taken_piece_inside=8,taken_piece_between=9,short_large_pieces=10,large_piece=11,"
             "taken_busy_piece=12",
             1);
    config::read_again();
    limits const& read = limits::in_force();
    EXPECT_EQ(read.with_host.most_mean_bytes, 4u);
    EXPECT_EQ(read.large_mean_bytes, 5u);
    EXPECT_EQ(read.least_bytes_of_large, 6u);
    EXPECT_EQ(read.of_small.most_mean_bytes, 7u);
    EXPECT_EQ(read.inside_gpu.most_mean_bytes, 8u);
    EXPECT_EQ(read.between_gpus.most_mean_bytes, 9u);
    EXPECT_EQ(read.short_large_pieces, 10u);
    EXPECT_EQ(read.large_piece, 11u);
    EXPECT_EQ(read.busy_mean_bytes, 12u);
}

// docs/memcpy.md's table.
TEST(memcpy_limits, are_those_that_were_measured) {
    limits const& read = limits::in_force();
    auto const is = [](limits::of_size const& its, std::size_t pieces, std::size_t bytes) {
        return its.least_pieces == pieces && its.most_mean_bytes == bytes;
    };
    EXPECT_TRUE(is(read.with_host, 64, 128 * kib));
    EXPECT_TRUE(is(read.of_small, 32, 8 * kib));
    EXPECT_TRUE(is(read.inside_gpu, 9, mib));
    EXPECT_TRUE(is(read.between_gpus, 32, 4 * mib));
    EXPECT_EQ(read.busy_mean_bytes, 4 * kib);
    EXPECT_EQ(read.least_pieces, 9u);
}

class memcpy_size : public testing::Test {
protected:
    void SetUp() override { m_.expect_ready(); }
    /// What CUDA gives the program, and who copied.
    void expect(std::optional<reason> why, std::vector<copy_piece> const& list) {
        SCOPED_TRACE(std::to_string(list.size()) + " pieces, the first of " +
                     std::to_string(list.empty() ? 0 : list.front().bytes));
        if (why)
            m_.expect_passed({list, stream_.get()}, *why);
        else
            m_.expect_taken({list, stream_.get()});
    }
    memcpy_program m_{"driver"};
    open_stream stream_;
};

/// The same, from the other half of the memory inside the GPU.
std::vector<copy_piece> inside(large_memory const& memory, std::size_t count, std::size_t bytes) {
    auto list = memory.to_cpu(count, bytes);
    for (copy_piece& each : list)
        each.to = each.from + memory.bytes() / 2;
    return list;
}

TEST_F(memcpy_size, few_pieces_with_the_host) {
    limits const& limit = limits::in_force();
    std::size_t const small = limit.of_small.most_mean_bytes;
    large_memory const memory(64 * (small + 1));
    for (bool const is_to_cpu : {true, false}) {
        auto const of = [&](std::size_t count, std::size_t bytes) {
            auto const list = memory.to_cpu(count, bytes);
            return is_to_cpu ? list : turned(list);
        };
        expect({}, of(32, small));
        expect(reason::few_pieces, of(31, small));
        expect(reason::few_pieces, of(9, 8));
        expect(reason::few_pieces, of(8, 8));
        expect({}, of(64, small + 1));
        expect(reason::few_pieces, of(63, small + 1));
        auto almost = of(33, small);
        almost.back().bytes = 1;
        ++almost.front().bytes;
        expect({}, almost); // on average
    }
    expect(reason::few_pieces, {});
}

// Behind other work CUDA copies such a batch faster; in an idle stream barmap does.
TEST_F(memcpy_size, few_pieces_behind_other_work) {
    limits const& limit = limits::in_force();
    std::size_t const busy = limit.busy_mean_bytes;
    large_memory const memory(64 * (busy + 1));
    std::vector<copy_piece> const larger = memory.to_cpu(63, busy + 1);
    for (bool const is_to_cpu : {true, false}) {
        auto const judge = [&](CUstream stream, std::vector<copy_piece> const& list) {
            copies const given(is_to_cpu ? list : turned(list), stream);
            auto const left = m_.count_of(reason::behind_work);
            auto const taken = m_.taken()[0];
            EXPECT_EQ(copy_by(copier::dropin, given), cuda::success);
            EXPECT_EQ(m_.taken()[0] - taken + m_.count_of(reason::behind_work) - left, 1u);
            return m_.taken()[0] != taken;
        };
        gated_stream stream; // in which a wait is pending
        EXPECT_FALSE(judge(stream.get(), larger));
        EXPECT_TRUE(judge(stream.get(), memory.to_cpu(63, busy)));
        EXPECT_TRUE(judge(stream.get(), memory.to_cpu(64, busy + 1)));
        EXPECT_TRUE(judge(stream.get(), inside(memory, 30, busy + 1)));
        EXPECT_TRUE(judge(stream_.get(), larger));
        stream.open();
        stream.synchronize();
        for (int i = 0; i < 7; ++i)
            EXPECT_FALSE(judge(stream.get(), larger)) << "asked again only for the eighth";
        stream.synchronize();
        EXPECT_TRUE(judge(stream.get(), larger));
        stream.synchronize();
        stream_.synchronize();
    }
}

// Of batches behind one another in a stream, one in eight pays for the question.
TEST_F(memcpy_size, a_busy_stream_is_asked_once_in_eight_batches) {
    std::size_t const busy = limits::in_force().busy_mean_bytes;
    large_memory const memory(64 * (busy + 1));
    static int questions;
    questions = 0;
    changed_driver counting;
    counting->stream_query = [](CUstream stream) {
        ++questions;
        return changed_driver::real.stream_query(stream);
    };
    gated_stream stream, other;
    copies const given(memory.to_cpu(32, busy + 1), stream.get());
    for (int i = 0; i < 12; ++i)
        m_.expect_left(given.call(), reason::behind_work);
    EXPECT_EQ(questions, 2);
    copies const elsewhere(memory.to_cpu(32, busy + 1), other.get());
    for (int i = 0; i < 8; ++i) { // after which nothing is remembered
        m_.expect_left(elsewhere.call(), reason::behind_work);
        EXPECT_EQ(questions, 3) << "another stream may be idle";
    }
    stream.open();
    other.open();
}

// It ends no capture of another thread, and what CUDA does not answer holds up nothing.
TEST(memcpy_place, the_question_for_other_work_disturbs_nothing) {
    static std::vector<int> modes;
    modes.clear();
    memcpy_program m("channel");
    m.expect_ready();
    large_memory const memory(32 * 8 * kib);
    open_stream const stream;
    changed_driver asked;
    asked->stream_query = [](CUstream) -> CUresult {
        int mode = 0;
        expect_success(changed_driver::real.thread_exchange_stream_capture_mode(&mode));
        modes.push_back(mode);
        expect_success(changed_driver::real.thread_exchange_stream_capture_mode(&mode));
        return memcpy_dropin::gpu_batches::illegal_address;
    };
    auto const taken = m.taken()[0];
    EXPECT_EQ(copy_by(copier::dropin, {memory.to_cpu(32, 8 * kib), stream.get()}), cuda::success);
    EXPECT_EQ(m.taken()[0], taken + 1);
    constexpr int relaxed = 2; // CU_STREAM_CAPTURE_MODE_RELAXED
    EXPECT_EQ(modes, std::vector{relaxed});
    EXPECT_EQ(copy_by(copier::dropin, {memory.to_cpu(32, 4 * kib), stream.get()}), cuda::success);
    EXPECT_EQ(modes.size(), 1u) << "CUDA is asked only where the answer matters";
    stream.synchronize();
}

TEST_F(memcpy_size, few_pieces_inside_a_gpu) {
    large_memory const memory(mib);
    expect({}, inside(memory, 9, 1000));
    expect(reason::few_pieces, inside(memory, 8, 1000));
    expect({}, inside(memory, 9, 50'000));
}

TEST_F(memcpy_size, large_pieces_with_the_host) {
    limits const& limit = limits::in_force();
    std::size_t const most = limit.with_host.most_mean_bytes,
                      count = limit.least_bytes_of_large / most;
    large_memory const memory(count * most + 1);
    copies given(memory.to_cpu(count, most), stream_.get());
    m_.expect_taken(given);
    ++given.bytes.back();
    m_.expect_passed(given, reason::large_pieces);
    given.bytes.assign(count, ~std::size_t{0} / 2); // the sum of which means nothing
    m_.expect_passed(given, reason::large_pieces);
}

// Up to 32 pieces of 1 MiB and more the core leaves to CUDA, too.
TEST_F(memcpy_size, large_pieces_inside_a_gpu) {
    large_memory const memory(2 * 33 * mib + 4);
    expect({}, inside(memory, 33, mib));
    expect(reason::large_pieces, inside(memory, 33, mib + 1));
    expect(reason::large_pieces, inside(memory, 32, mib));
    expect({}, inside(memory, 32, mib - 1));
}

// CUDA copies these as fast between host and GPU, and a batch costs its stream more than CUDA's.
TEST_F(memcpy_size, large_pieces_in_a_small_batch) {
    limits const& limit = limits::in_force();
    std::size_t const large = limit.large_mean_bytes, count = limit.least_bytes_of_large / large;
    large_memory const memory(count * large);
    for (bool const is_to_cpu : {true, false}) {
        auto const pieces = [&](std::size_t how_many, std::size_t bytes) {
            auto const list = memory.to_cpu(how_many, bytes);
            return is_to_cpu ? list : turned(list);
        };
        expect(reason::small_batch, pieces(count - 1, large));
        expect({}, pieces(count, large));
        expect({}, pieces(count - 1, large - 1));
    }
    expect({}, inside(memory, count / 2, large));
}

// CUDA needs 6 us for each piece of such a list.
TEST_F(memcpy_size, pieces_that_go_several_ways) {
    large_memory const memory(mib);
    auto const of_ways = [&](std::size_t count, std::size_t bytes) {
        auto list = memory.to_cpu(count, bytes);
        for (std::size_t i = 0; i < count; ++i)
            if (i % 3 == 1)
                std::swap(list[i].to, list[i].from);
            else if (i % 3 == 2)
                list[i].to = list[i].from + memory.bytes() / 2;
        return list;
    };
    auto const starting_inside = [&](std::size_t count, std::size_t bytes) {
        auto list = of_ways(count, bytes);
        std::rotate(list.begin(), list.begin() + 2, list.end());
        return list;
    };
    expect({}, of_ways(100, 1000));
    expect({}, starting_inside(100, 1000));
    expect({}, of_ways(32, 1000));
    expect(reason::few_pieces, of_ways(31, 1000));
    expect(reason::few_pieces, starting_inside(31, 1000)); // those with the host decide
    expect({}, inside(memory, 31, 1000));
}

// A thread knows where its latest batch lay, but that memory may become another.
TEST_F(memcpy_size, what_a_thread_remembers_is_forgotten) {
    large_memory const memory(mib);
    expect(reason::few_pieces, memory.to_cpu(20, 100));
    static int answers;
    answers = 0;
    changed_driver counting;
    counting->pointer_get_attributes = [](auto... arguments) {
        ++answers;
        return changed_driver::real.pointer_get_attributes(arguments...);
    };
    auto const left = copies(memory.to_cpu(20, 100), stream_.get());
    for (int i = 0; i < 1000; ++i)
        (void)memcpy_dropin::take(left.call());
    EXPECT_LE(answers, 2) << "asked again for a batch of the same memory";
    for (int i = 0; i < 1000; ++i)
        (void)memcpy_dropin::take(left.call());
    EXPECT_GT(answers, 0) << "never asked again";
    expect({}, memory.to_cpu(40, 100)); // what it is taken by is asked each time
    expect({}, inside(memory, 20, 100));
}

TEST(memcpy_size_between, gpus) {
    set_environment("BARMAP_SIM_DEVICES", "2");
    memcpy_program m("driver");
    m.expect_ready();
    open_stream const stream;
    CUcontext first = nullptr, second = nullptr;
    expect_success(cuda::api().ctx_get_current(&first));
    m.machine->use(1);
    expect_success(cuda::api().ctx_get_current(&second));
    {
        std::size_t const large = limits::in_force().between_gpus.most_mean_bytes;
        device_block const there(33 * (large + 1));
        expect_success(cuda::api().ctx_set_current(first));
        device_block const here(33 * (large + 1));
        expect_success(cuda::api().ctx_enable_peer_access(second, 0));
        auto const list = [&](std::size_t count, std::size_t bytes) {
            std::vector<copy_piece> all;
            for (std::size_t i = 0; i < count; ++i)
                all.push_back({there.address() + i * bytes, here.address() + i * bytes, bytes});
            return copies(all, stream.get());
        };
        m.expect_taken(list(32, 1000));
        m.expect_passed(list(31, 1000), reason::few_pieces);
        m.expect_passed(list(31, 100'000), reason::few_pieces);
        m.expect_taken(list(32, 100'000));
        m.expect_passed(list(32, mib), reason::large_pieces); // as the core
        m.expect_taken(list(33, large));
        m.expect_passed(list(33, large + 1), reason::large_pieces);
        expect_success(cuda::api().ctx_disable_peer_access(second));
    }
}

CUstream const of_each_thread = reinterpret_cast<CUstream>(std::uintptr_t{2});

bool ends(CUstream stream) {
    auto const latest = std::chrono::steady_clock::now() + 20s;
    while (cuda::api().stream_query(stream) == cuda::error_not_ready) {
        if (std::chrono::steady_clock::now() > latest)
            return false;
        std::this_thread::yield();
    }
    return true;
}

// The handle is one; the streams are many, and none waits for another one.
TEST(memcpy_stream, of_each_thread) {
    for (char const* const engine : {"driver", "channel"}) {
        SCOPED_TRACE(engine);
        memcpy_program m(engine);
        m.expect_ready();
        copies const given{m.p.pieces(100, 200), of_each_thread};
        m.expect_taken(given);
        CUcontext context = nullptr;
        expect_success(cuda::api().ctx_get_current(&context));
        gated_stream held;
        CUevent gate = nullptr;
        expect_success(cuda::api().event_create(&gate, 0));
        expect_success(cuda::api().event_record(gate, held.get()));
        expect_success(cuda::api().stream_wait_event(of_each_thread, gate, 0));
        EXPECT_EQ(memcpy_dropin::take(given.call()), cuda::success); // waits
        for (int i = 0; i < 3; ++i) // by as many queues as there are
            std::thread([&] {
                expect_success(cuda::api().ctx_set_current(context));
                EXPECT_EQ(memcpy_dropin::take(given.call()), cuda::success);
                EXPECT_TRUE(ends(of_each_thread)) << "it waits for another thread's stream";
            }).join();
        EXPECT_EQ(cuda::api().stream_query(of_each_thread), cuda::error_not_ready);
        held.open();
        expect_success(cuda::api().stream_synchronize(of_each_thread));
        expect_success(cuda::api().event_destroy(gate));
    }
}

} // namespace
} // namespace barmap::contract
