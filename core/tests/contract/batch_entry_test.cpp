// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"

#include <vector>

/// What a batch puts into the streams that it is ordered with.
namespace barmap::contract {
namespace {

/// Counts the entries that the library puts into streams.
struct counted_entries : changed_driver {
    counted_entries() {
        operations.clear();
        entries = writes = fills = waits = 0;
        answer = cuda::success;
        (*this)->stream_batch_mem_op = [](CUstream to, unsigned count,
                                          CUstreamBatchMemOpParams* list, unsigned flags) {
            ++entries;
            for (unsigned i = 0; i < count; ++i)
                operations.push_back(list[i].operation);
            return answer == cuda::success ? real.stream_batch_mem_op(to, count, list, flags)
                                           : answer;
        };
        (*this)->stream_write_value32 = [](auto... arguments) {
            ++writes;
            return real.stream_write_value32(arguments...);
        };
        (*this)->memset_d32_async = [](auto... arguments) {
            ++fills;
            return real.memset_d32_async(arguments...);
        };
        (*this)->stream_wait_value32 = [](auto... arguments) {
            ++waits;
            return real.stream_wait_value32(arguments...);
        };
    }
    static inline std::vector<unsigned> operations;
    static inline int entries, writes, fills, waits;
    static inline CUresult answer;
};

/// Submits a batch between these two and waits for both.
void expect_copied(batch_program& p, open_stream const& begin, open_stream const& end,
                   unsigned seed) {
    auto const list = p.pieces(100, 200);
    write_by_driver(p.block.address(), pattern(batch_program::size, seed));
    auto const wanted = p.host_after(list, pattern(batch_program::size, seed + 1),
                                     pattern(batch_program::size, seed));
    p.host.fill(pattern(batch_program::size, seed + 1));
    p.expect_done(p.queue.submit(list, after{begin.get()}, then{end.get()}));
    end.synchronize();
    EXPECT_TRUE(same_bytes(p.host.bytes(), wanted));
}

using operations = std::vector<unsigned>;

// Two entries would let work that another thread puts between them see a part of the batch.
TEST(batch_entry_test, a_batch_of_one_stream_is_one_entry) {
    engine_machine machine("channel");
    batch_program p;
    open_stream const stream;
    expect_copied(p, stream, stream, 1);
    counted_entries const counted;
    expect_copied(p, stream, stream, 2);
    EXPECT_EQ(counted.operations,
              (operations{cuda::operation_write_value32, cuda::operation_wait_value32}));
    EXPECT_EQ(counted.entries, 1);
    EXPECT_EQ(counted.writes + counted.fills + counted.waits, 0);
}

TEST(batch_entry_test, a_batch_of_two_streams_is_one_entry_of_each) {
    engine_machine machine("channel");
    batch_program p;
    open_stream const first, second;
    counted_entries const counted;
    expect_copied(p, first, second, 1);
    EXPECT_EQ(counted.entries, 0);
    EXPECT_EQ(counted.writes, 1);
    EXPECT_EQ(counted.waits, 1);
}

TEST(batch_entry_test, where_there_are_no_such_entries_there_are_two) {
    engine_machine machine("channel");
    batch_program p;
    open_stream const stream;
    counted_entries const counted;
    for (CUresult const each : {cuda::error_not_supported, cuda::error_not_found}) {
        counted.answer = each;
        counted.writes = counted.waits = 0;
        expect_copied(p, stream, stream, 1);
        EXPECT_EQ(counted.writes, 1);
        EXPECT_EQ(counted.waits, 1);
    }
}

TEST(batch_entry_test, what_cuda_refuses_for_the_stream_is_told_and_holds_up_nothing) {
    engine_machine machine("channel");
    batch_program p;
    open_stream const stream;
    {
        counted_entries const refusing;
        refusing.answer = 400;
        auto const list = p.pieces(5, 100);
        for (int i = 0; i < 3; ++i)
            EXPECT_THROW((void)p.queue.submit(list, after{stream.get()}, then{stream.get()}),
                         error);
        EXPECT_EQ(refusing.writes + refusing.fills + refusing.waits, 0);
    }
    expect_copied(p, stream, stream, 1);
}

// The words of older GPUs lie in a pool's memory, which CUDA's memory operations refuse.
TEST(batch_entry_test, older_gpus_have_two_entries) {
    engine_machine machine("channel", {.chip = "GA100"});
    batch_program p;
    open_stream const stream;
    counted_entries const counted;
    expect_copied(p, stream, stream, 1);
    EXPECT_EQ(counted.entries, 0);
    EXPECT_EQ(counted.fills, 1);
    EXPECT_EQ(counted.waits, 1);
}

} // namespace
} // namespace barmap::contract
