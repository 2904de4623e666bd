// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

namespace barmap::contract {
namespace {

using thread_test = contract_test;

constexpr int threads = 8;

template <class Work>
void on_threads(Work work) {
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i)
        running.emplace_back(work, i);
    for (std::thread& each : running)
        each.join();
}

TEST_P(thread_test, a_thread_without_a_context_can_pin_and_map) {
    device const gpu = device::open(0);
    for (memory_kind const kind : kinds_of_device_memory) {
        if (!adopts(kind))
            continue;
        SCOPED_TRACE(to_string(kind));
        auto const block = make_memory(kind, 4 * mib);
        mapping map;
        std::thread([&] {
            CUcontext current = nullptr;
            expect_success(cu().ctx_get_current(&current));
            EXPECT_EQ(current, nullptr);
            map = gpu.pin(block->address() + 1, 3 * mib).map();
            expect_success(cu().ctx_get_current(&current));
            EXPECT_EQ(current, nullptr) << "the thread's context must be put back";
        }).join();
        expect_same_memory(map, block->address() + 1, 1);
    }
}

TEST_P(thread_test, a_thread_without_a_context_can_open_the_device) {
    auto const block = some_memory(mib);
    mapping map;
    std::thread([&] { map = device::open(0).pin(block->address(), mib).map(); }).join();
    expect_same_memory(map, block->address(), 1);
}

TEST_P(thread_test, a_context_of_another_kind_is_put_back) {
    device const gpu = device::open(0);
    auto const block = some_memory(mib);
    CUcontext other = nullptr, current = nullptr;
    expect_success(cu().ctx_create(&other, 0, 0));
    mapping const map = gpu.pin(block->address(), mib).map();
    expect_success(cu().ctx_get_current(&current));
    EXPECT_EQ(current, other);
    expect_success(cu().ctx_destroy(other));
    the_machine().use();
    expect_same_memory(map, block->address(), 1);
}

TEST_P(thread_test, threads_open_one_device_at_once) {
    auto const block = some_memory(mib);
    std::vector<mapping> maps(threads);
    on_threads([&](int i) {
        maps[std::size_t(i)] = device::open(0).pin(block->address() + unsigned(i), 4096).map();
    });
    for (int i = 0; i < threads; ++i)
        expect_same_memory(maps[std::size_t(i)], block->address() + unsigned(i), unsigned(i));
}

// Requirement: any mix of pins, maps, copies and drops by several threads on one device.
TEST_P(thread_test, threads_mix_all_operations) {
    constexpr std::size_t part = 64 * kib;
    constexpr int rounds = 60;
    device const gpu = device::open(0);
    auto const block = some_memory(threads * part);
    pin const shared_pin = gpu.pin(block->address(), threads * part);
    mapping const shared_map = shared_pin.map();
    std::atomic<int> wrong{0};
    on_threads([&](int i) {
        std::minstd_rand random(static_cast<unsigned>(i) + 1);
        std::size_t const mine = static_cast<std::size_t>(i) * part;
        std::vector<std::byte> seen(part);
        for (int round = 0; round < rounds; ++round) {
            std::size_t const offset = random() % (part / 2), bytes = 1 + random() % (part / 2);
            auto const sent = pattern(bytes, static_cast<unsigned>(round * threads + i));
            std::span<std::byte> const back(seen.data(), bytes);
            switch (round % 3) {
            case 0: // through what all share
                write(shared_map.window(mine + offset, bytes), sent);
                read(back, shared_map.window(mine + offset, bytes));
                break;
            case 1: { // through a mapping of one's own of the shared pin
                mapping const own = shared_pin.map();
                write(own.window(mine + offset, bytes), sent);
                read(back, shared_map.window(mine + offset, bytes));
                break;
            }
            default: { // through a pin of one's own
                mapping const own = gpu.pin(block->address() + mine + offset, bytes).map();
                write(shared_map.window(mine + offset, bytes), sent);
                read(back, own.window());
            }
            }
            wrong += !std::equal(back.begin(), back.end(), sent.begin());
        }
    });
    EXPECT_EQ(wrong, 0) << "O12, O29";
}

TEST_P(thread_test, threads_allocate_at_once) {
    device const gpu = device::open(0);
    pin const shared = gpu.allocate(mib);
    std::atomic<int> wrong{0};
    on_threads([&](int i) {
        for (unsigned round = 0; round < 10; ++round) {
            std::size_t const bytes = 1000 * unsigned(i + 1) + round;
            mapping const own = gpu.allocate(bytes).map(), common = shared.map();
            auto const sent = pattern(bytes, round);
            std::vector<std::byte> seen(bytes);
            write(own.window(), sent);
            write_value(common.window(std::size_t(i) * 64, 8), std::uint64_t{round});
            read(seen, own.window());
            wrong += seen != sent;
        }
    });
    EXPECT_EQ(wrong, 0);
}

BARMAP_OVER_NEWEST_WAYS(thread_test);

} // namespace
} // namespace barmap::contract
