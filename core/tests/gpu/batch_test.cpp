// SPDX-License-Identifier: MIT
#include "other_run.hpp"
#include "real_gpu.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <string>
#include <thread>

namespace barmap::gpu_test {
namespace {

using namespace std::chrono_literals;

class batch_test : public real_gpu {
protected:
    static bool by_channel(batch_queue const& queue) { return queue.engine() == "channel"; }

    /// Copies a list out, and looks at every byte.
    static void expect_to_work(batch_queue& queue, unsigned seed) {
        device_block const block(mib);
        pinned_block const host(mib);
        auto const sent = pattern(mib, seed);
        write_by_driver(block.address(), sent.data(), mib);
        std::ranges::fill(host.bytes(), std::byte{0x5a});
        std::vector<copy_piece> list;
        std::vector<std::byte> expected(mib, std::byte{0x5a});
        for (std::size_t i = 0; i < 1000; ++i) {
            std::size_t const from = i * 1000 + i % 7, to = (i * 7 + 3) % 1000 * 1000 + i % 5;
            std::size_t const size = 1 + i * 13 % 990;
            list.push_back({host.address() + to, block.address() + from, size});
            std::memcpy(expected.data() + to, sent.data() + from, size);
        }
        EXPECT_TRUE(queue.wait(queue.submit(list), 10s));
        EXPECT_TRUE(same_bytes(host.bytes(), expected));
        // And back to where it was, by another order.
        fill_by_driver(block.address(), 0, mib);
        expect_success(cu().ctx_synchronize());
        std::ranges::reverse(list);
        for (copy_piece& each : list)
            std::swap(each.to, each.from);
        EXPECT_TRUE(queue.wait(queue.submit(list), 10s));
        std::vector<std::byte> seen(mib);
        expect_success(cu().memcpy_dtoh(seen.data(), block.address(), mib));
        for (copy_piece const& each : list)
            ASSERT_EQ(std::memcmp(seen.data() + (each.to - block.address()),
                                  sent.data() + (each.to - block.address()), each.bytes),
                      0);
    }

    static void expect_failed(batch_queue& queue, batch_ticket ticket) {
        auto const begin = std::chrono::steady_clock::now();
        EXPECT_EQ(code_of([&] { (void)queue.wait(ticket, 5s); }), errc::copy_unfinished);
        auto const took = std::chrono::steady_clock::now() - begin;
        EXPECT_LT(took, 1s);
        std::printf("told after %.1f ms\n",
                    std::chrono::duration<double, std::milli>(took).count());
    }
};

TEST_F(batch_test, moves_scattered_pieces_of_every_kind_of_memory) {
    device const gpu = device::open(0);
    batch_queue queue = gpu.batch_queue();
    std::printf("by %s\n", std::string(queue.engine()).c_str());
    for (unsigned i = 0; i < rounds(5); ++i)
        expect_to_work(queue, i);
    constexpr std::size_t size = 4 * mib;
    auto const sent = pattern(size, 77);
    pinned_block const host(size);
    std::ranges::copy(sent, host.bytes().begin());
    auto const expect_reached = [&](std::uintptr_t address, char const* what) {
        std::vector<copy_piece> const list{{address + 3, host.address() + 3, size - 5}};
        EXPECT_TRUE(queue.wait(queue.submit(list), 10s)) << what;
        std::vector<std::byte> seen(size - 5);
        expect_success(cu().memcpy_dtoh(seen.data(), address + 3, seen.size()));
        EXPECT_EQ(std::memcmp(seen.data(), sent.data() + 3, seen.size()), 0) << what;
    };
    expect_reached(device_block(size).address(), "cuMemAlloc");
    expect_reached(virtual_block(0, {2 * mib, 2 * mib}).address(), "VMM memory");
    expect_reached(virtual_block(0, {2 * mib, 2 * mib}, cuda::handle_type_none).address(),
                   "VMM memory that cannot be exported");
    CUstream stream = nullptr;
    expect_success(cu().stream_create(&stream, 1));
    CUdeviceptr pooled = 0;
    expect_success(cu().mem_alloc_async(&pooled, size, stream));
    expect_success(cu().stream_synchronize(stream));
    expect_reached(pooled, "memory of the default pool");
    expect_success(cu().mem_free_async(pooled, stream));
    expect_success(cu().stream_synchronize(stream));
    expect_success(cu().stream_destroy(stream));
    EXPECT_EQ(queue.reports().back().failures, 0u);
}

// Every piece says where it goes, whatever the others do.
TEST_F(batch_test, moves_pieces_any_way_in_one_batch) {
    device const gpu = device::open(0);
    batch_queue queue = gpu.batch_queue();
    device_block const block(mib);
    pinned_block const host(mib);
    constexpr std::size_t quarter = mib / 4, size = 1000;
    for (unsigned round = 0; round < rounds(100); ++round) {
        auto const there = pattern(mib, 2 * round), here = pattern(mib, 2 * round + 1);
        write_by_driver(block.address(), there.data(), mib);
        std::ranges::copy(here, host.bytes().begin());
        std::uintptr_t const g = block.address(), h = host.address();
        std::vector<copy_piece> list;
        for (std::size_t at = round % 7; at + size <= quarter; at += 1024) {
            list.push_back({g + 2 * quarter + at, g + at, size});
            list.push_back({h + 2 * quarter + at, g + quarter + at, size});
            list.push_back({g + 3 * quarter + at, h + at, size});
            list.push_back({h + 3 * quarter + at, h + quarter + at, size});
        }
        std::ranges::rotate(list, list.begin() + round % 4);
        ASSERT_TRUE(queue.wait(queue.submit(list), 10s));
        std::vector<std::byte> seen(mib);
        expect_success(cu().memcpy_dtoh(seen.data(), g, mib));
        std::size_t wrong = 0;
        for (std::size_t at = round % 7; at + size <= quarter; at += 1024) {
            wrong += std::memcmp(&seen[2 * quarter + at], &there[at], size) != 0;
            wrong += std::memcmp(&host.bytes()[2 * quarter + at], &there[quarter + at], size) != 0;
            wrong += std::memcmp(&seen[3 * quarter + at], &here[at], size) != 0;
            wrong += std::memcmp(&host.bytes()[3 * quarter + at], &here[quarter + at], size) != 0;
        }
        ASSERT_EQ(wrong, 0u) << round;
    }
    EXPECT_EQ(queue.reports().back().failures, 0u);
}

// Another context of the process has the same addresses.
TEST_F(batch_test, takes_streams_and_memory_of_another_context) {
    device const gpu = device::open(0);
    batch_queue queue = gpu.batch_queue();
    CUcontext other = nullptr;
    if (cu().ctx_create(&other, 0, 0) != cuda::success)
        GTEST_SKIP() << "no second context here";
    {
        expect_to_work(queue, 5);
        CUstream stream = nullptr;
        expect_success(cu().stream_create(&stream, 1));
        device_block const block(mib);
        pinned_block const host(mib);
        std::vector<copy_piece> const list{{host.address(), block.address(), mib}};
        if (by_channel(queue)) {
            batch_ticket const ticket = queue.submit(list, after{stream}, then{stream});
            expect_success(cu().stream_synchronize(stream));
            EXPECT_TRUE(queue.done(ticket));
        }
        expect_success(cu().stream_destroy(stream));
    }
    expect_success(cu().ctx_destroy(other));
    expect_to_work(queue, 6);
}

TEST_F(batch_test, tells_of_addresses_that_are_not_mapped_and_goes_on) {
    device const gpu = device::open(0);
    batch_queue queue = gpu.batch_queue();
    if (!by_channel(queue))
        GTEST_SKIP() << queue.reports().front().reason;
    pinned_block const host(mib);
    std::vector<std::byte> const pageable(mib);
    std::uintptr_t freed = 0;
    {
        device_block const block(256 * mib);
        freed = block.address();
    }
    device_block const block(mib);
    std::array<copy_piece, 2> const bad{
        copy_piece{reinterpret_cast<std::uintptr_t>(pageable.data()), block.address(), 4096},
        copy_piece{host.address(), freed, 4096}};
    for (copy_piece const& each : bad) {
        batch_ticket const ticket = queue.submit({&each, 1});
        expect_failed(queue, ticket);
        EXPECT_EQ(queue.engine(), "channel") << "another one";
        expect_to_work(queue, 3);
        expect_success(cu().ctx_synchronize()); // CUDA goes on
    }
    CUstream stream = nullptr;
    expect_success(cu().stream_create(&stream, 1));
    std::vector<copy_piece> const many(9, bad[0]); // CUDA's own copies take fewer
    batch_ticket const ticket = queue.submit(many, after{stream}, then{stream});
    auto const begin = std::chrono::steady_clock::now();
    expect_success(cu().stream_synchronize(stream));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s) << "the stream goes on";
    expect_failed(queue, ticket);
    expect_success(cu().stream_destroy(stream));
    EXPECT_EQ(queue.engine(), "driver") << "after three";
    expect_to_work(queue, 4);
}

TEST_F(batch_test, a_stream_that_does_not_come_is_waited_for_so_long) {
    device const gpu = device::open(0);
    batch_queue queue = gpu.batch_queue();
    if (!by_channel(queue))
        GTEST_SKIP() << queue.reports().front().reason;
    CUstream held = nullptr, other = nullptr;
    expect_success(cu().stream_create(&held, 1));
    expect_success(cu().stream_create(&other, 1));
    pinned_block const gate(4096), host(mib);
    device_block const block(mib);
    std::ranges::fill(gate.bytes(), std::byte{});
    auto const word = std::atomic_ref(*reinterpret_cast<std::uint32_t*>(gate.bytes().data()));
    expect_success(cu().stream_wait_value32(held, gate.address(), 1, cuda::wait_value_geq));
    std::vector<copy_piece> const list{{host.address(), block.address(), mib}};
    batch_ticket const ticket = queue.submit(list, after{held, 200ms}, then{other});
    for (int i = 0; i < 100; ++i) // meanwhile others are served
        EXPECT_TRUE(queue.wait(queue.submit(list), 1s));
    expect_success(cu().stream_synchronize(other));
    expect_failed(queue, ticket);
    word.store(1);
    expect_success(cu().stream_synchronize(held));
    expect_to_work(queue, 8);
    expect_success(cu().stream_destroy(held));
    expect_success(cu().stream_destroy(other));
}

TEST_F(batch_test, both_ways_at_once_move_the_right_bytes) {
    device const gpu = device::open(0);
    batch_queue queue = gpu.batch_queue();
    constexpr std::size_t size = 64 * mib, piece = 65536;
    device_block const up(size), down(size);
    pinned_block const from(size), to(size);
    auto const sent = pattern(size, 1), there = pattern(size, 2);
    std::ranges::copy(sent, from.bytes().begin());
    write_by_driver(down.address(), there.data(), size);
    std::vector<copy_piece> uploads, downloads;
    for (std::size_t at = 0; at < size; at += piece) {
        uploads.push_back({up.address() + at, from.address() + at, piece});
        downloads.push_back({to.address() + at, down.address() + at, piece});
    }
    for (std::size_t i = 0; i < rounds(20); ++i) {
        fill_by_driver(up.address(), 0, size);
        expect_success(cu().ctx_synchronize());
        std::ranges::fill(to.bytes(), std::byte{});
        batch_ticket const first = queue.submit(uploads);
        batch_ticket const second = queue.submit(downloads);
        EXPECT_TRUE(queue.wait(second, 5s));
        ASSERT_TRUE(same_bytes(to.bytes(), there));
        EXPECT_TRUE(queue.wait(first, 5s));
        std::vector<std::byte> seen(size);
        expect_success(cu().memcpy_dtoh(seen.data(), up.address(), size));
        ASSERT_TRUE(seen == sent);
    }
    EXPECT_EQ(queue.reports().back().failures, 0u);
}

// Each has an address space of its own in CUDA's client.
TEST_F(batch_test, each_gpu_is_reached_by_its_own_engine) {
    if (count() < 2)
        GTEST_SKIP() << "there is one GPU";
    for (int const ordinal : {1, 0, 1}) {
        use(ordinal);
        device const gpu = device::open(ordinal);
        batch_queue queue = gpu.batch_queue();
        std::printf("GPU %d by %s\n", ordinal, std::string(queue.engine()).c_str());
        expect_to_work(queue, static_cast<unsigned>(ordinal));
        EXPECT_EQ(queue.reports().back().failures, 0u);
    }
}

// A stream that has not come to its wait yet looks at the engine's memory later.
TEST_F(batch_test, the_last_handle_waits_for_streams) {
    device const gpu = device::open(0);
    CUstream stream = nullptr;
    expect_success(cu().stream_create(&stream, 1));
    device_block const block(mib);
    pinned_block const gate(4096), host(mib);
    std::ranges::fill(gate.bytes(), std::byte{});
    auto const word = std::atomic_ref(*reinterpret_cast<std::uint32_t*>(gate.bytes().data()));
    auto const sent = pattern(mib, 9);
    write_by_driver(block.address(), sent.data(), mib);
    std::thread opener;
    {
        batch_queue queue = gpu.batch_queue();
        std::vector<copy_piece> const list{{host.address(), block.address(), mib}};
        expect_success(cu().stream_wait_value32(stream, gate.address(), 1, cuda::wait_value_geq));
        batch_ticket const ticket = queue.submit(list, {}, then{stream});
        EXPECT_TRUE(queue.wait(ticket, 5s));
        opener = std::thread([word] {
            std::this_thread::sleep_for(300ms);
            word.store(1);
        });
    }
    opener.join();
    expect_success(cu().stream_synchronize(stream));
    EXPECT_TRUE(same_bytes(host.bytes(), sent));
    expect_success(cu().stream_destroy(stream));
    batch_queue queue = gpu.batch_queue();
    expect_to_work(queue, 3);
}

// An engine takes at most 1 GiB as a piece.
TEST_F(batch_test, cuts_pieces_of_more_than_a_gibibyte) {
    constexpr std::size_t size = (std::size_t{1} << 30) + 12345;
    device const gpu = device::open(0);
    batch_queue queue = gpu.batch_queue();
    device_block const block(size);
    pinned_block const host(size);
    auto const sent = pattern(size, 3);
    write_by_driver(block.address(), sent.data(), size);
    std::vector<copy_piece> const list{{host.address(), block.address(), size}};
    EXPECT_TRUE(queue.wait(queue.submit(list), 10s));
    EXPECT_TRUE(same_bytes(host.bytes(), sent));
}

TEST_F(batch_test, starts_and_ends_leave_nothing) {
    device const gpu = device::open(0);
    auto const cycle = [&] {
        batch_queue queue = gpu.batch_queue();
        CUstream stream = nullptr;
        expect_success(cu().stream_create(&stream, 1));
        device_block const block(4096);
        pinned_block const host(4096);
        std::vector<copy_piece> const list{{host.address(), block.address(), 4096}};
        EXPECT_TRUE(queue.wait(queue.submit(list), 1s));
        (void)queue.submit(list, after{stream}, then{stream});
        expect_success(cu().stream_synchronize(stream));
        expect_success(cu().stream_destroy(stream));
    };
    for (int i = 0; i < 3; ++i)
        cycle();
    std::size_t free_before = 0, free_after = 0, total = 0;
    expect_success(cu().mem_get_info(&free_before, &total));
    std::size_t const descriptors = open_descriptors();
    for (std::size_t i = 0; i < rounds(20); ++i)
        cycle();
    expect_success(cu().mem_get_info(&free_after, &total));
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_EQ(free_after, free_before);
}

/// Not a test: a process that is killed.
TEST_F(batch_test, DISABLED_submits_for_ever) {
    line const to_test(line_of_this_run);
    device const gpu = device::open(0);
    batch_queue queue = gpu.batch_queue();
    device_block const block(64 * mib);
    pinned_block const host(64 * mib);
    CUstream stream = nullptr;
    expect_success(cu().stream_create(&stream, 1));
    std::vector<copy_piece> list;
    for (std::size_t at = 0; at < 64 * mib; at += 16384)
        list.push_back({host.address() + at, block.address() + at, 16384});
    std::vector<copy_piece> back = list;
    for (copy_piece& each : back)
        std::swap(each.to, each.from);
    for (bool has_told = false;; has_told = true) {
        (void)queue.submit(list);
        batch_ticket const ticket = queue.submit(back, after{stream}, then{stream});
        if (!has_told)
            to_test.send("x", 1);
        (void)queue.wait(ticket, 1s);
    }
}

// Its channel goes with it, in CUDA's address space and all, and disturbs no other process.
TEST_F(batch_test, survives_processes_that_are_killed_in_mid_copy) {
    device const gpu = device::open(0);
    batch_queue queue = gpu.batch_queue();
    for (std::size_t i = 0; i < rounds(3); ++i) {
        other_run other("batch_test.DISABLED_submits_for_ever");
        char word = 0;
        ASSERT_TRUE(other.receive(&word, 1));
        std::this_thread::sleep_for(std::chrono::milliseconds(i % 7));
        other.kill();
        expect_to_work(queue, static_cast<unsigned>(i));
    }
    EXPECT_EQ(queue.reports().back().failures, 0u);
}

} // namespace
} // namespace barmap::gpu_test
