// SPDX-License-Identifier: MIT
#include "peer_gpus.hpp"

#include <chrono>
#include <cstdio>

/// Long lists, and small batches beside them. Prints the times.
namespace barmap::gpu_test {
namespace {

using clock_type = std::chrono::steady_clock;

double microseconds_since(clock_type::time_point begin) {
    return std::chrono::duration<double, std::micro>(clock_type::now() - begin).count();
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

/// So many disjoint pieces in a random order.
std::vector<copy_piece> shuffled(std::uintptr_t to, std::uintptr_t from, std::size_t count,
                                 std::size_t bytes) {
    std::vector<copy_piece> result;
    for (std::size_t i = 0; i < count; ++i)
        result.push_back({to + i * bytes, from + i * bytes, bytes});
    std::mt19937_64 random(1);
    std::ranges::shuffle(result, random);
    return result;
}

void measure_beside(batch_queue& queue, char const* what, std::vector<copy_piece> const& bulk,
                    std::vector<copy_piece> const& small, CUstream stream) {
    std::vector<double> alone, beside, ordered_alone, ordered_beside;
    auto const play = [&](std::vector<double>& times, bool is_ordered) {
        auto const begin = clock_type::now();
        if (is_ordered) {
            (void)queue.submit(small, after{stream}, then{stream});
            expect_success(cuda::api().stream_synchronize(stream));
        } else {
            EXPECT_TRUE(queue.wait(queue.submit(small), 10s));
        }
        times.push_back(microseconds_since(begin));
    };
    std::size_t overtaken = 0;
    for (std::size_t i = 0; i < rounds(40); ++i)
        for (bool const is_ordered : {false, true}) {
            play(is_ordered ? ordered_alone : alone, is_ordered);
            batch_ticket const under_way = queue.submit(bulk);
            play(is_ordered ? ordered_beside : beside, is_ordered);
            overtaken += !queue.done(under_way);
            ASSERT_TRUE(queue.wait(under_way, 10s));
        }
    EXPECT_EQ(overtaken, 2 * rounds(40)) << what;
    std::printf("%s: 64 pieces of 64 B: %.2f us alone, %.2f beside 1 GiB; in stream order %.2f and "
                "%.2f\n",
                what, median(alone), median(beside), median(ordered_alone), median(ordered_beside));
}

TEST_F(real_gpu, small_batches_pass_large_ones) {
    constexpr std::size_t size = std::size_t{1} << 30;
    batch_queue queue = device::open(0).batch_queue();
    if (queue.engine() != "channel")
        GTEST_SKIP() << "by " << queue.engine();
    device_block const from(size), to(size);
    pinned_block const host(size), few(mib);
    CUstream stream = nullptr;
    expect_success(cu().stream_create(&stream, 1));
    auto const small = shuffled(few.address(), from.address(), 64, 64);
    measure_beside(queue, "out of the GPU", shuffled(host.address(), to.address(), 16384, 65536),
                   small, stream);
    measure_beside(queue, "inside", shuffled(to.address(), from.address(), 16384, 65536), small,
                   stream);
    expect_success(cu().stream_destroy(stream));
}

TEST_F(peer_gpus, a_long_list_is_submitted_at_once) {
    constexpr std::size_t bytes = 49152, count = 100'000, size = bytes * count;
    enable(0);
    batch_queue queue = queue_of(0);
    auto const from = block_of(0, size), to = block_of(1, size);
    auto const list = shuffled(to->address(), from->address(), count, bytes);
    std::vector<double> submitting, copying, contiguous;
    for (std::size_t i = 0; i < rounds(10); ++i) {
        auto begin = clock_type::now();
        batch_ticket const ticket = queue.submit(list);
        submitting.push_back(microseconds_since(begin));
        ASSERT_TRUE(queue.wait(ticket, 10s));
        copying.push_back(microseconds_since(begin));
        begin = clock_type::now();
        expect_success(cu().memcpy_dtod(to->address(), from->address(), size));
        expect_success(cu().ctx_synchronize());
        contiguous.push_back(microseconds_since(begin));
    }
    std::printf("100,000 pieces of 48 KiB: submitted in %.0f us, done after %.0f; one copy of as "
                "many bytes %.0f: %.3f of its rate\n",
                median(submitting), median(copying), median(contiguous),
                median(contiguous) / median(copying));
}

} // namespace
} // namespace barmap::gpu_test
