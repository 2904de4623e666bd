// SPDX-License-Identifier: MIT
#include "real_gpu.hpp"
#include "shared/peer.hpp"
#include "test_kernels.hpp"

#include <barmap/counter.hpp>
#include <barmap/log.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

/// What core/tests/contract tries with threads, with kernels of a GPU.
namespace barmap::gpu_test {
namespace {

using namespace std::chrono_literals;
using gpu::word;
using log_test = real_gpu;

constexpr unsigned blocks = 256;

/// Of barmap_test_log.
bool is_whole(log_record const& it) {
    return it.a < blocks && it.b == (it.a ^ it.id * 3) && it.c == ~it.id && it.time != 0;
}

struct log_findings {
    word read = 0, wrong = 0;
};

/// Reads until nothing has come for so long.
log_findings read_all(log_ring& from, std::chrono::nanoseconds patience) {
    std::vector<unsigned> next(blocks);
    std::array<log_record, 256> records;
    log_findings seen;
    word number = 0;
    while (from.wait_for(patience)) {
        std::size_t const count = from.read(records);
        seen.read += count;
        for (log_record const& each : std::span(records).first(count)) {
            bool const is_right =
                is_whole(each) && each.number >= number && each.id >= next[each.a];
            seen.wrong += !is_right;
            if (is_right) { // each block's own are in order
                next[each.a] = each.id + 1;
                number = each.number + 1;
            }
        }
    }
    return seen;
}

TEST_F(log_test, records_arrive_whole_and_in_order) {
    test_kernels kernels;
    device const gpu = device::open(0);
    for (std::size_t const slots : {std::size_t{4}, std::size_t{1024}, std::size_t{1} << 20}) {
        SCOPED_TRACE(slots);
        log_ring log(gpu, slots);
        auto const count = static_cast<unsigned>(rounds(4000));
        for (unsigned const several : {1u, blocks}) {
            word const lost_before = log.lost();
            kernels.launch("barmap_test_log", several, log.handle(), count);
            log_findings const seen = read_all(log, 2s);
            kernels.expect_nothing_wrong();
            EXPECT_EQ(seen.wrong, 0u);
            word const told_of = seen.read + log.lost() - lost_before, all = word{count} * several;
            EXPECT_LE(told_of, all);
            // But for the last ones, if some that came late have taken their places.
            EXPECT_TRUE(slots <= several || told_of + slots >= all) << told_of;
            EXPECT_TRUE(slots < all || told_of == all) << told_of;
        }
    }
}

TEST_F(log_test, a_kernel_that_hangs_is_read_by_this_process_and_another_one) {
    peer reader([](line const& to_test) {
        auto log = log_ring::open_shared(os::fd(to_test.receive_descriptor()).get());
        std::vector<unsigned> seen(blocks);
        for (unsigned i = 0; i < blocks; ++i) {
            std::array<log_record, 1> record;
            ASSERT_TRUE(log.wait_for(10s)) << i;
            ASSERT_EQ(log.read(record), 1u);
            ++seen.at(record[0].a);
        }
        EXPECT_EQ(std::ranges::count(seen, 1u), std::ptrdiff_t{blocks});
    });
    test_kernels kernels;
    device const gpu = device::open(0);
    arena const words(gpu, 4096, 0);
    counter_to_gpu until(words);
    log_ring log(gpu, 1024);
    kernels.launch("barmap_test_log_and_hang", blocks, log.handle(), until.handle());
    reader.send_descriptor(os::fd(log.share()).get());
    EXPECT_EQ(reader.wait(), 0) << "while the kernel runs";
    log_findings const seen = read_all(log, 1s);
    EXPECT_EQ(seen.read, blocks);
    EXPECT_EQ(seen.wrong, 0u);
    until.advance(1);
    kernels.expect_nothing_wrong();
}

TEST_F(log_test, a_kernel_that_failed_has_left_its_records) {
    testing::FLAGS_gtest_death_test_style = "threadsafe"; // a new process: its context is lost
    EXPECT_EXIT(
        {
            use(0);
            auto* const kernels = new test_kernels;
            log_ring log(device::open(0), 1024);
            kernels->launch("barmap_test_log_and_fail", 1, log.handle());
            bool const is_lost = cu().stream_synchronize(kernels->stream()) != cuda::success;
            log_findings const seen = read_all(log, 1s);
            std::fprintf(stderr, "lost %d read %llu wrong %llu", is_lost, seen.read, seen.wrong);
            std::exit(0);
        },
        testing::ExitedWithCode(0), "^lost 1 read 100 wrong 0$");
}

} // namespace
} // namespace barmap::gpu_test
