// SPDX-License-Identifier: MIT
#include "contract/access_hook.hpp"
#include "contract/logged.hpp"
#include "contract/numbered.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

/// Logs, with threads in the place of kernels.
namespace barmap::contract {
namespace {

using namespace std::chrono_literals;
using gpu::word;

using log_test = contract_test;
using log_thread_test = signalling_threads;

constexpr std::uint64_t last = ~std::uint64_t{0};

TEST_P(log_test, is_refused_where_cuda_registers_no_host_memory) {
    pins_only_its_own const refusing;
    refusal const seen = refusal_of([] { (void)log_ring(device::open(0), 8); });
    EXPECT_EQ(seen.code, std::error_code(cuda::error_not_supported, cuda_category()));
    EXPECT_NE(seen.text.find("it can have no logs"), std::string::npos) << seen.text;
}

TEST_P(log_test, records_come_in_their_order_with_time_and_number) {
    log_ring log(device::open(0), 8);
    EXPECT_EQ(log.slots(), 8u);
    EXPECT_TRUE(all_of(log).empty());
    EXPECT_FALSE(log.wait_for(0ns));
    word const before = gpu::nanoseconds_now();
    for (std::uint32_t i = 0; i < 5; ++i)
        gpu::log(log.handle_for_thread(), 70 + i, i, last >> (32 + i), 1000);
    word const after = gpu::nanoseconds_now();
    EXPECT_TRUE(log.wait_for(0ns));
    std::array<log_record, 3> some{};
    EXPECT_EQ(log.read(some), 3u);
    EXPECT_EQ(log.read(std::span(some).first(0)), 0u);
    auto const rest = all_of(log);
    ASSERT_EQ(rest.size(), 2u);
    log_record const& fourth = rest[0];
    EXPECT_EQ(fourth.number, 3u);
    EXPECT_EQ(fourth.id, 73u);
    EXPECT_EQ(fourth.a, 3u);
    EXPECT_EQ(fourth.b, static_cast<std::uint32_t>(last >> 35));
    EXPECT_EQ(fourth.c, 1000u);
    EXPECT_TRUE(before <= some[0].time && some[0].time <= fourth.time && fourth.time <= after);
    EXPECT_EQ(log.lost(), 0u);
    EXPECT_FALSE(log.wait_for(0ns));
}

TEST_P(log_test, a_full_ring_keeps_the_newest_and_the_reader_counts_the_others) {
    device const gpu = device::open(0);
    for (std::uint32_t const slots : {1u, 2u, 8u, 64u})
        for (std::uint32_t const read_before : {0u, 1u})
            for (std::uint32_t written = 1; written < 3 * slots + 2; ++written) {
                SCOPED_TRACE(testing::Message() << slots << " slots, " << written << " records");
                arena const words(gpu, arena::alignment, 0);
                log_ring log(words, slots);
                log_numbered(log.handle_for_thread(), 0);
                if (read_before != 0)
                    expect_ids(log, 0, 1);
                for (std::uint32_t i = 1; i < written; ++i)
                    log_numbered(log.handle_for_thread(), i);
                std::uint32_t const kept = std::min(written - read_before, slots);
                expect_ids(log, written - kept, kept);
                EXPECT_EQ(log.lost(), written - kept - read_before);
            }
}

TEST_P(log_test, each_reader_sees_all_of_it) {
    log_ring log(device::open(0), 8);
    log_ring first = opened(log);
    for (std::uint32_t i = 0; i < 6; ++i)
        log_numbered(log.handle_for_thread(), i);
    log_ring second = opened(log);
    for (log_ring* each : {&log, &first, &second}) {
        expect_ids(*each, 0, 6);
        EXPECT_EQ(each->lost(), 0u);
    }
    for (std::uint32_t i = 6; i < 21; ++i)
        log_numbered(log.handle_for_thread(), i);
    log_ring third = opened(second);
    expect_ids(third, 13, 8);
    EXPECT_EQ(third.lost(), 13u);
    expect_ids(first, 13, 8);
    EXPECT_EQ(first.lost(), 7u);
    EXPECT_EQ(third.slots(), 8u);
    EXPECT_EQ(third.handle().records, nullptr) << "it is for reading";
    EXPECT_EQ(third.handle_for_thread().records, nullptr);
    EXPECT_NE(log.handle().records, nullptr);
}

// Numbers, of which 32 bits of the round lie in each half.
TEST_P(log_test, numbers_may_wrap) {
    device const gpu = device::open(0);
    arena const words(gpu, arena::alignment, 0);
    for (std::uint64_t const first :
         {last, last - 3, last - 9, last / 2, (std::uint64_t{1} << 34) - 6,
          (std::uint64_t{1} << 33) - 6, (std::uint64_t{1} << 35) - 4}) { // of 4 slots
        SCOPED_TRACE(first);
        auto log = detail::first_number::of<log_ring>(words, 4, first);
        auto early = opened(log);
        EXPECT_TRUE(all_of(early).empty());
        for (std::uint64_t i = first; i != first + 30; ++i) {
            EXPECT_TRUE(all_of(log).empty());
            log_numbered(log.handle_for_thread(), static_cast<std::uint32_t>(i));
            auto const found = all_of(log);
            ASSERT_EQ(found.size(), 1u);
            EXPECT_EQ(found[0].number, i);
            EXPECT_EQ(found[0].id, static_cast<std::uint32_t>(i));
        }
        EXPECT_EQ(log.lost(), 0u);
        for (std::uint64_t i = first + 30; i != first + 43; ++i)
            log_numbered(log.handle_for_thread(), static_cast<std::uint32_t>(i));
        expect_ids(log, static_cast<std::uint32_t>(first + 39), 4);
        EXPECT_EQ(log.lost(), 9u);
        auto next = opened(log);
        expect_ids(next, static_cast<std::uint32_t>(first + 39), 4);
    }
}

TEST_P(log_test, half_a_record_is_none) {
    device const gpu = device::open(0);
    arena const words(gpu, arena::alignment, 0);
    for (unsigned const first_half : {0u, 1u})
        for (std::uint64_t number = 0; number < 7; ++number) { // of empty slots, and of used ones
            SCOPED_TRACE(number);
            log_ring log(words, 4);
            auto const to = log.handle_for_thread();
            for (std::uint32_t i = 0; i < number; ++i) {
                log_numbered(to, i);
                expect_ids(log, i, 1);
            }
            store_half(to, number, first_half);
            EXPECT_TRUE(all_of(log).empty());
            EXPECT_FALSE(log.wait_for(0ns));
            EXPECT_TRUE(number == 0 || opened(log).lost() <= number);
            store_half(to, number, 1 - first_half);
            expect_ids(log, static_cast<std::uint32_t>(number), 1);
            EXPECT_EQ(log.lost(), 0u);
        }
}

TEST_P(log_test, half_a_newer_record_takes_the_older_one_away) {
    device const gpu = device::open(0);
    for (unsigned const half : {0u, 1u}) {
        log_ring log(gpu, 4);
        auto const to = log.handle_for_thread();
        for (std::uint32_t i = 0; i < 4; ++i)
            log_numbered(to, i);
        store_half(to, 4, half);
        expect_ids(log, 1, 3);
        EXPECT_EQ(log.lost(), 1u);
        store_half(to, 4, 1 - half);
        expect_ids(log, 4, 1);
    }
}

// Half of the only slot is overwritten, and then all of it: what lies there is read.
TEST_P(log_test, a_reader_of_one_slot_that_is_too_slow_keeps_the_newest) {
    log_ring log(device::open(0), 1);
    auto const to = log.handle_for_thread();
    log_numbered(to, 0);
    gpu::add_relaxed(to.next, 1);
    store_half(to, 1, 0);
    EXPECT_TRUE(all_of(log).empty());
    log_numbered(to, 2);
    expect_ids(log, 2, 1);
    EXPECT_EQ(log.lost(), 2u);
}

// A writer that was held up for a round stores over a newer record, all of it or one half.
TEST_P(log_test, a_late_writer_takes_a_record_away_and_none_is_mixed) {
    device const gpu = device::open(0);
    for (unsigned const halves : {1u, 2u, 3u}) {
        log_ring log(gpu, 4);
        auto const to = log.handle_for_thread();
        for (std::uint32_t i = 0; i < 7; ++i)
            log_numbered(to, i);
        for (unsigned const half : {0u, 1u})
            if ((halves >> half & 1) != 0)
                store_half(to, 1, half); // where 5 lies
        std::vector<log_record> found;
        while (found.size() < 3 && log.wait_for(60s))
            for (log_record const& each : all_of(log))
                found.push_back(each);
        for (log_record const& each : found)
            EXPECT_TRUE(is_whole(each) && each.number == each.id);
        ASSERT_EQ(found.size(), 3u);
        EXPECT_EQ(found.back().id, 6u);
        EXPECT_EQ(found[1].id, 4u) << "5 is lost";
        EXPECT_EQ(log.lost() + found.size(), 7u);
    }
}

// Kernels go round while a reader is in the middle.
TEST_P(log_test, what_is_overwritten_while_it_is_read_is_not_shown) {
    SKIP_WITHOUT_HOOK();
    constexpr std::size_t slots = 1024;
    device const gpu = device::open(0);
    for (std::uint32_t const newer : {1u, 2u}) {
        log_ring log(gpu, slots);
        auto const to = log.handle_for_thread();
        for (std::uint32_t i = 0; i < slots; ++i)
            log_numbered(to, i);
        access_hook hook;
        std::array<log_record, 300> records;
        ASSERT_EQ(log.read(records), 300u);
        hook.at(slot_of(to, 400), [&] {
            for (std::uint32_t i = 0; i < newer * slots; ++i)
                log_numbered(to, static_cast<std::uint32_t>(slots) + i);
        });
        std::uint64_t count = 300;
        std::uint32_t before = 299;
        while (std::size_t const found = log.read(records))
            for (log_record const& each : std::span(records).first(found)) {
                EXPECT_TRUE(is_whole(each) && each.number == each.id);
                EXPECT_GT(each.id, before);
                before = each.id;
                ++count;
            }
        EXPECT_EQ(before, slots + newer * slots - 1);
        EXPECT_EQ(count + log.lost(), slots + newer * slots);
    }
}

// Its oldest record is overwritten before it is read: then it leaves half of the ring to the
// kernels.
TEST_P(log_test, a_reader_that_is_too_slow_keeps_away_from_what_is_overwritten_next) {
    SKIP_WITHOUT_HOOK();
    constexpr std::uint32_t slots = 1024;
    log_ring log(device::open(0), slots);
    auto const to = log.handle_for_thread();
    std::uint32_t written = 0;
    auto const write = [&](std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i)
            log_numbered(to, written++);
    };
    write(slots);
    std::array<log_record, 300> records;
    ASSERT_EQ(log.read(records), 300u);
    write(700);
    access_hook hook;
    hook.at(slot_of(to, 700), [&] { write(200); }); // which the reader looks at to find the oldest
    auto const found = all_of(log);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.back().id, written - 1);
    EXPECT_LE(found.size(), slots / 2);
    EXPECT_EQ(found.size() + 300 + log.lost(), written);
}

TEST_P(log_thread_test, many_threads_write_and_many_read) {
#if !defined(__x86_64__) && !defined(__aarch64__)
    GTEST_SKIP() << "no thread stores 16 bytes as one here, as kernels do";
#endif
    device const gpu = device::open(0);
    constexpr std::uint32_t threads = 4, each = 20'000;
    for (std::size_t const slots : {std::size_t{2}, std::size_t{64}, std::size_t{1} << 17}) {
        SCOPED_TRACE(slots);
        log_ring log(gpu, slots);
        log_ring other = opened(log);
        std::atomic<unsigned> writing{threads};
        std::vector<std::thread> all;
        for (std::uint32_t i = 0; i < threads; ++i)
            all.emplace_back([&, i, to = log.handle_for_thread()] {
                for (std::uint32_t k = 0; k < each; ++k)
                    log_numbered(to, i * each + k);
                --writing;
            });
        std::atomic<std::uint64_t> wrong{0};
        auto const read = [&](log_ring& from) {
            std::vector<std::uint32_t> next(threads);
            std::array<log_record, 100> records;
            std::uint64_t count = 0;
            for (bool is_over = false;;) {
                std::size_t const found = from.read(records);
                count += found;
                for (log_record const& one : std::span(records).first(found)) {
                    std::uint32_t const thread = one.id / each;
                    wrong += !is_whole(one) || thread >= threads;
                    if (thread >= threads)
                        continue;
                    wrong += one.id % each < next[thread]; // each thread's own are in order
                    next[thread] = one.id % each + 1;
                }
                if (is_over && found == 0)
                    break;
                is_over = writing == 0 && !from.wait_for(300ms);
            }
            wrong += count + from.lost() > threads * each;
            // But for the last ones, if some that were late have taken their places.
            wrong += slots > threads && count + from.lost() + slots < threads * each;
            EXPECT_TRUE(slots < threads * each || count + from.lost() == threads * each);
        };
        std::thread reader([&] { read(other); });
        read(log);
        reader.join();
        for (std::thread& one : all)
            one.join();
        EXPECT_EQ(wrong, 0u);
    }
}

TEST_P(log_test, sizes_that_it_cannot_have_are_refused) {
    device const gpu = device::open(0);
    for (std::size_t const slots : {std::size_t{0}, std::size_t{3}, std::size_t{12},
                                    std::size_t{1} << 33, std::size_t{1} << 63})
        expect_refusal([&] { (void)log_ring(gpu, slots); }, errc::invalid_argument,
                       "make a log of " + std::to_string(slots) + " slots", "a power of two");
    arena const full(gpu, arena::alignment, 0);
    arena::part const all = full.take_gpu(1);
    expect_refusal([&] { (void)log_ring(full, 4); }, errc::out_of_range, "arena", "larger");
}

BARMAP_OVER_KINDS_OF_MEMORY(log_test);
BARMAP_OVER_KINDS_OF_MEMORY(log_thread_test);

} // namespace
} // namespace barmap::contract
