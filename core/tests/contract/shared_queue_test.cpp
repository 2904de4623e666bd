// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "contract/kernel_side.hpp"
#include "transfer/engine/channel/kernel_channel.hpp"

#include <barmap/gpu/shared_queue.cuh>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

/// A queue that many warps feed at the same time, each of them a thread.
namespace barmap::contract {
namespace {

using kernel_side::shared_submitter, kernel_side::sharing;
using kernel_side::word, kernel_side::patience;

struct shared_queue_test : testing::Test {
    engine_machine machine{"channel"};
    device gpu = device::open(0);
    device_block block{mib};
    pinned_block host{mib};
    std::optional<engine::kernel_channel> channel{std::in_place, identify(0),
                                                  engine::kernel_channel::form{.is_shared = true}};
    kernel_side::queue queue = channel->queue_for_thread();

    void TearDown() override { machine.gpu().release(); }

    [[nodiscard]] kernel_side::piece one() const { return {host.address(), block.address(), 4}; }
    kernel_side::status submit_one(shared_submitter& copies, word& ticket, word nanoseconds = 0) {
        return copies.submit(
            1, [&](unsigned) { return one(); }, ticket, {}, nanoseconds);
    }
};

// In all some rounds through the ring.
TEST_F(shared_queue_test, warps_submit_at_the_same_time_and_each_byte_arrives) {
    constexpr unsigned warps = 4, rounds = 60, most = 1000;
    std::vector<std::byte> const sent = pattern(mib, 7);
    expect_success(cuda::api().memcpy_htod(block.address(), sent.data(), mib));
    std::atomic<std::size_t> pieces{0};
    auto const warp = [&](unsigned which) {
        std::mt19937_64 random(which);
        constexpr std::size_t room = mib / warps;
        std::span<std::byte> const mine = host.bytes().subspan(which * room, room);
        shared_submitter copies(queue);
        for (unsigned round = 0; round < rounds; ++round) {
            std::vector<std::byte> expected(room, std::byte{0x5a});
            std::ranges::fill(mine, std::byte{0x5a});
            unsigned const count = 1 + static_cast<unsigned>(random() % (round % 2 ? most : 5));
            std::vector<kernel_side::piece> list;
            for (unsigned i = 0; i < count; ++i) {
                std::size_t const slot = room / count, bytes = random() % (slot + 1), to = i * slot,
                                  from = random() % (mib - bytes + 1);
                list.push_back({host.address() + which * room + to, block.address() + from, bytes});
                std::memcpy(expected.data() + to, sent.data() + from, bytes);
            }
            word ticket = 0;
            ASSERT_EQ(copies.submit(
                          count, [&](unsigned i) { return list[i]; }, ticket, {}, patience),
                      kernel_side::status::ok);
            ASSERT_EQ(copies.wait(ticket, patience), kernel_side::status::ok);
            ASSERT_TRUE(same_bytes(mine, expected)) << count << " pieces, warp " << which;
            pieces += count;
        }
    };
    std::vector<std::thread> all;
    for (unsigned which = 0; which < warps; ++which)
        all.emplace_back(warp, which);
    for (std::thread& each : all)
        each.join();
    EXPECT_GT(pieces, std::size_t{2} * kernel_side::queue::slots / 3);
    EXPECT_EQ(queue.sharing->arrivals, 0u);
    EXPECT_EQ(queue.sharing->handed, queue.sharing->taken);
    EXPECT_FALSE(channel->is_busy());
}

TEST_F(shared_queue_test, goes_through_its_rings_many_times_and_beyond_2_to_the_32) {
    constexpr word before = 0xffff'8000; // where the ring begins anew
    sharing& shared = *queue.sharing;
    shared.taken = shared.handed = before;
    shared.groups = 0x7fff'fe00; // each with two entries, of a ring of 1,024
    std::ranges::fill(shared.ends, before);
    std::ranges::fill(shared.ready, static_cast<unsigned char>(0xff)); // of the round before
    __atomic_store_n(queue.semaphore, static_cast<unsigned>(before), __ATOMIC_RELEASE);
    shared_submitter copies(queue);
    word last = before, ticket = 0;
    for (unsigned i = 0; last < before + 3 * word{kernel_side::queue::slots}; ++i) {
        unsigned const count = i % 50 == 0 ? kernel_side::queue::most_pieces : 1 + i % 7;
        ASSERT_EQ(copies.submit(
                      count, [&](unsigned) { return one(); }, ticket, {}, patience),
                  kernel_side::status::ok);
        ASSERT_EQ(ticket, last + count);
        last = ticket;
        EXPECT_FALSE(copies.done(last + 1)) << "it was not given";
        EXPECT_TRUE(copies.done(1)) << "a much older one";
        if (count == kernel_side::queue::most_pieces) { // also those that cross the ring's end
            ASSERT_EQ(copies.wait(last, patience), kernel_side::status::ok);
        }
    }
    EXPECT_EQ(copies.wait(last, patience), kernel_side::status::ok);
    EXPECT_GT(last, word{1} << 32);
    shared_submitter other(queue);
    EXPECT_TRUE(other.done(last));
    EXPECT_FALSE(other.done(last + 1));
    auto const why = channel->failure();
    EXPECT_FALSE(why) << *why;
}

// So that warps often arrive while another one hands over.
TEST_F(shared_queue_test, no_submission_is_left_behind) {
    constexpr unsigned warps = 4, rounds = 10'000;
    std::vector<std::thread> all;
    for (unsigned which = 0; which < warps; ++which)
        all.emplace_back([&] {
            shared_submitter copies(queue);
            word ticket = 0;
            for (unsigned round = 0; round < rounds; ++round)
                ASSERT_EQ(submit_one(copies, ticket, patience), kernel_side::status::ok);
            ASSERT_EQ(copies.wait(ticket, patience), kernel_side::status::ok);
        });
    for (std::thread& each : all)
        each.join();
    EXPECT_EQ(queue.sharing->arrivals, 0u);
    EXPECT_EQ(queue.sharing->handed, warps * rounds);
    EXPECT_LT(queue.sharing->groups, warps * rounds) << "some were handed over together";
}

TEST_F(shared_queue_test, a_submission_that_is_not_written_yet_holds_the_later_ones_back) {
    shared_submitter copies(queue);
    word first = 0, ticket = 0;
    ASSERT_EQ(submit_one(copies, first), kernel_side::status::ok);
    word const slow = __atomic_fetch_add(&queue.sharing->taken, 1, __ATOMIC_RELAXED);
    ASSERT_EQ(submit_one(copies, ticket), kernel_side::status::ok);
    EXPECT_EQ(ticket, slow + 2);
    EXPECT_EQ(copies.wait(first, patience), kernel_side::status::ok);
    EXPECT_EQ(copies.wait(ticket, 20'000'000), kernel_side::status::timed_out);
    EXPECT_TRUE(channel->is_busy());
    // The slow warp writes its slot, as the one behind it did, and marks it.
    std::memcpy(queue.commands + slow * 8, queue.commands + (slow + 1) * 8, 32);
    queue.sharing->ready[slow] = 1;
    word third = 0;
    ASSERT_EQ(submit_one(copies, third), kernel_side::status::ok);
    EXPECT_EQ(copies.wait(third, patience), kernel_side::status::ok);
    EXPECT_TRUE(copies.done(ticket));
}

TEST_F(shared_queue_test, without_room_nothing_is_submitted) {
    machine.gpu().hold(own_engine);
    shared_submitter copies(queue);
    word last = 0, ticket = 0;
    unsigned taken = 0;
    for (; submit_one(copies, ticket) == kernel_side::status::ok; ++taken)
        last = ticket;
    EXPECT_EQ(taken, sharing::most_groups); // each by itself
    EXPECT_EQ(submit_one(copies, ticket), kernel_side::status::full);
    EXPECT_EQ(submit_one(copies, ticket, 1000), kernel_side::status::timed_out);
    EXPECT_EQ(queue.sharing->taken, last);
    EXPECT_EQ(copies.wait(last, 0), kernel_side::status::empty);
    machine.gpu().release();
    EXPECT_EQ(copies.wait(last, patience), kernel_side::status::ok);
    machine.gpu().hold(own_engine);
    // The ring of slots is full before the groups are.
    auto const submit = [&] {
        return copies.submit(
            kernel_side::queue::most_pieces, [&](unsigned) { return one(); }, ticket);
    };
    for (taken = 0; submit() == kernel_side::status::ok; ++taken)
        last = ticket;
    EXPECT_EQ(taken, kernel_side::queue::slots / kernel_side::queue::most_pieces);
    machine.gpu().release();
    EXPECT_EQ(copies.wait(last, patience), kernel_side::status::ok);
    EXPECT_EQ(submit_one(copies, ticket), kernel_side::status::ok);
    EXPECT_EQ(copies.wait(ticket, patience), kernel_side::status::ok);
}

// It has seen room before others took it.
TEST_F(shared_queue_test, a_warp_that_has_lost_the_room_waits_for_the_engine) {
    shared_submitter late(queue);
    machine.gpu().hold(own_engine);
    shared_submitter copies(queue);
    word ticket = 0;
    while (submit_one(copies, ticket) == kernel_side::status::ok) {
    }
    kernel_side::status result = kernel_side::status::empty;
    std::thread warp([&] { result = submit_one(late, ticket); });
    sharing& shared = *queue.sharing;
    while (__atomic_load_n(&shared.taken, __ATOMIC_ACQUIRE) == sharing::most_groups)
        std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(__atomic_load_n(&shared.groups, __ATOMIC_ACQUIRE), word{sharing::most_groups});
    machine.gpu().release();
    warp.join();
    EXPECT_EQ(result, kernel_side::status::ok);
    EXPECT_EQ(late.wait(ticket, patience), kernel_side::status::ok);
}

TEST_F(shared_queue_test, a_signal_of_4_or_8_bytes_comes_after_the_bytes) {
    pinned_block word_of_host(4096);
    auto* const flag = reinterpret_cast<word*>(word_of_host.bytes().data());
    std::vector<std::byte> const sent = pattern(mib, 9);
    expect_success(cuda::api().memcpy_htod(block.address(), sent.data(), mib));
    shared_submitter copies(queue);
    for (unsigned count : {1u, 5u, 700u, 0u})
        for (unsigned bytes : {0u, 4u, 8u}) {
            word const value = 0x1'2345'6789'abcd + count;
            word const expected = bytes == 8 ? value : value & 0xffff'ffff;
            __atomic_store_n(flag, 0, __ATOMIC_RELAXED);
            std::ranges::fill(host.bytes(), std::byte{0});
            word ticket = 0;
            ASSERT_EQ(copies.submit(
                          count,
                          [&](unsigned i) {
                              return kernel_side::piece{host.address() + i * 1024,
                                                        block.address() + i * 1024, 1024};
                          },
                          ticket, {word_of_host.address(), value, bytes}, patience),
                      kernel_side::status::ok);
            while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != expected)
                std::this_thread::yield();
            EXPECT_TRUE(
                same_bytes(host.bytes().first(count * 1024), std::span(sent).first(count * 1024)));
            EXPECT_EQ(copies.wait(ticket, patience), kernel_side::status::ok);
        }
    EXPECT_EQ(flag[1], 0u);
}

TEST_F(shared_queue_test, refuses_what_is_not_allowed) {
    shared_submitter copies(queue);
    word ticket = 0;
    auto const submit = [&](unsigned count, barmap::gpu::copy_signal signal) {
        return copies.submit(
            count, [&](unsigned) { return one(); }, ticket, signal);
    };
    EXPECT_EQ(submit(kernel_side::queue::most_pieces + 1, {}), kernel_side::status::invalid);
    EXPECT_EQ(submit(1, {host.address() + 2, 1, 4}), kernel_side::status::invalid);
    EXPECT_EQ(submit(1, {host.address() + 4, 1, 8}), kernel_side::status::invalid);
    EXPECT_EQ(submit(1, {host.address(), 1, 2}), kernel_side::status::invalid);
    kernel_side::queue older = queue;
    older.most_signal_bytes = 4;
    EXPECT_EQ(shared_submitter(older).submit(1, [&](unsigned) { return one(); }, ticket,
                                             {host.address(), 1, 8}),
              kernel_side::status::invalid);
    kernel_side::queue other = queue;
    ++other.layout;
    shared_submitter of_other(other);
    EXPECT_EQ(submit_one(of_other, ticket), kernel_side::status::invalid);
    EXPECT_EQ(of_other.wait(1, 0), kernel_side::status::invalid);
    EXPECT_FALSE(of_other.done(0));
    EXPECT_EQ(kernel_side::warp_submitter(queue).opened(), kernel_side::status::invalid);
    engine::kernel_channel const alone(identify(0), {});
    EXPECT_EQ(shared_submitter(alone.queue_for_thread()).opened(), kernel_side::status::invalid);
    EXPECT_EQ(queue.sharing->taken, 0u);
    EXPECT_EQ(ticket, 0u);
}

TEST_F(shared_queue_test, a_piece_that_is_too_long_is_left_out) {
    std::vector<std::byte> const sent = pattern(4096, 3);
    expect_success(cuda::api().memcpy_htod(block.address(), sent.data(), sent.size()));
    std::ranges::fill(host.bytes(), std::byte{0});
    shared_submitter copies(queue);
    word ticket = 0;
    EXPECT_EQ(copies.submit(
                  2,
                  [&](unsigned i) {
                      return kernel_side::piece{host.address() + i * 1024,
                                                block.address() + i * 1024,
                                                i == 0 ? kernel_side::queue::most_bytes + 1 : 1024};
                  },
                  ticket),
              kernel_side::status::invalid_piece);
    EXPECT_EQ(copies.wait(ticket, patience), kernel_side::status::ok);
    EXPECT_EQ(host.bytes()[0], std::byte{0});
    EXPECT_TRUE(same_bytes(host.bytes().subspan(1024, 1024), std::span(sent).subspan(1024, 1024)));
}

// Nobody asks for it.
TEST_F(shared_queue_test, waits_learn_that_the_channel_has_stopped) {
    shared_submitter copies(queue);
    word ticket = 0;
    ASSERT_EQ(copies.submit(
                  1,
                  [&](unsigned) {
                      return kernel_side::piece{host.address(), 0x1000, 4};
                  },
                  ticket),
              kernel_side::status::ok); // nothing is mapped there
    EXPECT_EQ(copies.wait(ticket, patience), kernel_side::status::failed);
    EXPECT_NE(channel->failure().value_or("").find("error 31"), std::string::npos);
}

TEST_F(shared_queue_test, lists_in_memory_are_submitted_at_the_same_time) {
    std::vector<std::byte> const sent = pattern(mib, 5);
    expect_success(cuda::api().memcpy_htod(block.address(), sent.data(), mib));
    constexpr unsigned lists = 3, count = 5000; // more than one submission each
    std::vector<kernel_side::piece> pieces;
    for (unsigned i = 0; i < lists * count; ++i)
        pieces.push_back({host.address() + i * 64, block.address() + i * 64, 64});
    word const length = count;
    std::vector<std::thread> all;
    for (unsigned which = 0; which < lists; ++which)
        all.emplace_back([&, which] {
            kernel_side::task const task{queue, pieces.data() + which * count, &length, count,
                                         patience};
            EXPECT_EQ(kernel_side::submit_and_wait(task), kernel_side::status::ok);
        });
    for (std::thread& each : all)
        each.join();
    EXPECT_TRUE(same_bytes(host.bytes().first(lists * count * 64),
                           std::span(sent).first(lists * count * 64)));
}

} // namespace
} // namespace barmap::contract
