// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/kernel_channel.hpp"

#include "contract/batch_fixture.hpp"
#include "contract/kernel_side.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

/// A queue that kernels feed, with a thread in the place of a warp.
namespace barmap::contract {
namespace {

struct kernel_channel_test : testing::Test {
    engine_machine machine{"channel"};
    device gpu = device::open(0);
    device_block block{mib};
    pinned_block host{mib};
    std::optional<engine::kernel_channel> channel{std::in_place, identify(0),
                                                  engine::kernel_channel::form{}};
    kernel_side::queue queue = channel->queue_for_thread();
    std::mt19937_64 random{12345};

    void TearDown() override { machine.gpu().release(); }

    [[nodiscard]] static kernel_side::piece piece(std::uint64_t to, std::uint64_t from,
                                                  std::uint64_t bytes) {
        return {to, from, bytes};
    }
    [[nodiscard]] kernel_side::piece one() const {
        return piece(host.address(), block.address(), 4);
    }

    /// Submits one piece of 4 bytes. @return its ticket
    kernel_side::word submit_one(kernel_side::warp_submitter& copies) {
        kernel_side::word ticket = 0;
        EXPECT_EQ(copies.submit(
                      1, [&](unsigned) { return one(); }, ticket, {}, kernel_side::patience),
                  kernel_side::status::ok);
        return ticket;
    }
};

TEST_F(kernel_channel_test, copies_random_lists_byte_for_byte) {
    std::vector<std::byte> const sent = pattern(mib, 7);
    expect_success(cuda::api().memcpy_htod(block.address(), sent.data(), mib));
    kernel_side::warp_submitter copies(queue);
    for (unsigned round = 0; round < 60; ++round) {
        std::vector<std::byte> expected(mib, std::byte{0x5a});
        std::ranges::fill(host.bytes(), std::byte{0x5a});
        unsigned const sizes[] = {1, 2, 32, 33, 544, 545, 1000, kernel_side::queue::most_pieces};
        unsigned const count = sizes[random() % std::size(sizes)];
        std::size_t const room = mib / count;
        std::vector<kernel_side::piece> list;
        for (unsigned i = 0; i < count; ++i) {
            std::size_t const bytes = random() % (room + 1);
            std::size_t const to = i * room + random() % (room - bytes + 1);
            std::size_t const from = random() % (mib - bytes + 1);
            list.push_back(piece(host.address() + to, block.address() + from, bytes));
            std::memcpy(expected.data() + to, sent.data() + from, bytes);
        }
        kernel_side::word ticket = 0;
        ASSERT_EQ(
            copies.submit(
                count, [&](unsigned i) { return list[i]; }, ticket, {}, kernel_side::patience),
            kernel_side::status::ok);
        ASSERT_EQ(copies.wait(ticket, kernel_side::patience), kernel_side::status::ok);
        ASSERT_TRUE(same_bytes(host.bytes(), expected)) << count << " pieces";
    }
}

// So many that the rings of commands, entries and tickets begin anew several times.
TEST_F(kernel_channel_test, waits_for_room_and_uses_it_again) {
    kernel_side::warp_submitter copies(queue);
    kernel_side::word last = 0;
    for (unsigned round = 0; round < 40; ++round)
        ASSERT_EQ(copies.submit(
                      kernel_side::queue::most_pieces, [&](unsigned) { return one(); }, last, {},
                      kernel_side::patience),
                  kernel_side::status::ok);
    for (unsigned round = 0; round < 2 * kernel_side::queue::gpfifo_entries; ++round)
        last = submit_one(copies);
    EXPECT_EQ(copies.wait(last, kernel_side::patience), kernel_side::status::ok);
    EXPECT_EQ(channel->done(), static_cast<std::uint32_t>(last));
}

// Lists of one length come to stand right at the ring's end, where the next begins anew.
TEST_F(kernel_channel_test, lists_of_any_length_stay_inside_the_ring) {
    std::uint64_t const end = queue.commands_address + kernel_side::queue::slots * 32;
    for (unsigned length : {1u, 63u, 1023u, 1024u, 4095u, 4096u, 0u}) {
        kernel_side::warp_submitter copies(queue);
        kernel_side::word last = 0;
        unsigned count = length;
        std::uint64_t at = queue.commands_address; // where the last list has ended
        for (unsigned used = 0; used < (length != 0 ? 2 : 10) * kernel_side::queue::slots;
             used += count + 1) {
            if (length == 0) { // any, or one that is too long by one for what is left
                std::uint64_t const left = (end - at) / 32;
                count = left != 0 && left <= kernel_side::queue::most_pieces
                            ? static_cast<unsigned>(left)
                            : 1 + static_cast<unsigned>(random() % kernel_side::queue::most_pieces);
            }
            ASSERT_EQ(copies.submit(
                          count, [&](unsigned) { return one(); }, last, {}, kernel_side::patience),
                      kernel_side::status::ok);
            unsigned const put = __atomic_load_n(queue.put, __ATOMIC_RELAXED);
            std::uint64_t const entry =
                queue.entries[(put + kernel_side::queue::gpfifo_entries - 1) %
                              kernel_side::queue::gpfifo_entries];
            // Its lower 40 bits, and how many words of 4 bytes.
            at = (end >> 40 << 40) + (entry & 0xff'ffff'fffc) + (entry >> 42) * 4;
            ASSERT_LE(at, end) << count << " pieces, after " << used << " slots";
        }
        ASSERT_EQ(copies.wait(last, kernel_side::patience), kernel_side::status::ok) << count;
        auto const why = channel->failure();
        ASSERT_FALSE(why) << *why;
    }
}

TEST_F(kernel_channel_test, counts_beyond_2_to_the_32) {
    constexpr kernel_side::word before = 0xffff'8000; // where the ring begins anew
    queue.state->position = before;
    queue.state->entries += 0xffff'fc00; // as many entries before, of a ring of 1,024
    __atomic_store_n(queue.semaphore, static_cast<unsigned>(before), __ATOMIC_RELEASE);
    kernel_side::warp_submitter copies(queue);
    kernel_side::word last = before;
    for (unsigned i = 1; i <= 1200; ++i) {
        kernel_side::word const given = submit_one(copies);
        EXPECT_GT(given, last);
        last = given;
        EXPECT_FALSE(copies.done(given + 1)) << "it was not given";
        if (i % 7 == 0) {
            ASSERT_EQ(copies.wait(given, kernel_side::patience), kernel_side::status::ok) << i;
            EXPECT_TRUE(copies.done(before)) << "an older one";
            EXPECT_TRUE(copies.done(1)) << "a much older one";
        }
    }
    EXPECT_GT(last, kernel_side::word{1} << 32);
}

// Only a copy that is not pipelined waits for the submission before.
TEST_F(kernel_channel_test, a_submission_waits_for_the_one_before_whatever_its_first_piece_is) {
    namespace words = barmap::gpu::commands;
    kernel_side::warp_submitter copies(queue);
    for (kernel_side::word bytes :
         {kernel_side::word{0}, kernel_side::word{4}, kernel_side::queue::most_bytes + 1}) {
        kernel_side::word ticket = 0;
        unsigned const put = __atomic_load_n(queue.put, __ATOMIC_RELAXED);
        (void)copies.submit(
            3,
            [&](unsigned i) { return piece(host.address(), block.address(), i == 0 ? bytes : 4); },
            ticket, {}, kernel_side::patience);
        std::uint64_t const entry = queue.entries[put];
        std::uint64_t const at =
            (entry & 0xff'ffff'fffc) - (queue.commands_address & 0xff'ffff'ffff);
        unsigned const* const list = queue.commands + at / 4 + 4;
        EXPECT_EQ(list[7] >> 16 & 3, words::launch_non_pipelined) << bytes;
        EXPECT_EQ(list[8 + 7] >> 16 & 3, words::launch_pipelined);
        ASSERT_EQ(copies.wait(ticket, kernel_side::patience), kernel_side::status::ok);
    }
}

TEST_F(kernel_channel_test, without_room_nothing_is_submitted) {
    machine.gpu().hold(own_engine);
    kernel_side::warp_submitter copies(queue);
    kernel_side::word last = 0, ticket = 0;
    unsigned taken = 0;
    for (;; ++taken) {
        kernel_side::status const result = copies.submit(
            1, [&](unsigned) { return one(); }, ticket);
        if (result != kernel_side::status::ok) {
            EXPECT_EQ(result, kernel_side::status::full);
            break;
        }
        last = ticket;
    }
    EXPECT_EQ(taken, 512u); // each takes 64 slots of the ring
    EXPECT_EQ(copies.submit(
                  1, [&](unsigned) { return one(); }, ticket, {}, 1000),
              kernel_side::status::timed_out);
    EXPECT_EQ(copies.wait(last, 0), kernel_side::status::empty);
    EXPECT_EQ(copies.wait(last, 1000), kernel_side::status::timed_out);
    machine.gpu().release();
    EXPECT_EQ(copies.wait(last, kernel_side::patience), kernel_side::status::ok);
    EXPECT_GT(submit_one(copies), last);
}

TEST_F(kernel_channel_test, a_signal_comes_after_the_bytes) {
    pinned_block word_of_host(4096);
    auto* const flag = reinterpret_cast<unsigned*>(word_of_host.bytes().data());
    std::vector<std::byte> const sent = pattern(mib, 9);
    expect_success(cuda::api().memcpy_htod(block.address(), sent.data(), mib));
    kernel_side::warp_submitter copies(queue);
    for (unsigned count : {1u, 5u, 700u, 0u}) {
        *flag = 0;
        std::ranges::fill(host.bytes(), std::byte{0});
        kernel_side::word ticket = 0;
        ASSERT_EQ(copies.submit(
                      count,
                      [&](unsigned i) {
                          return piece(host.address() + i * 1024, block.address() + i * 1024, 1024);
                      },
                      ticket, {word_of_host.address(), 4711 + count, 0}, kernel_side::patience),
                  kernel_side::status::ok);
        while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != 4711 + count)
            std::this_thread::yield();
        EXPECT_TRUE(
            same_bytes(host.bytes().first(count * 1024), std::span(sent).first(count * 1024)));
        EXPECT_EQ(copies.wait(ticket, kernel_side::patience), kernel_side::status::ok);
    }
}

TEST_F(kernel_channel_test, the_next_warp_goes_on_where_one_has_ended) {
    kernel_side::word last = 0;
    for (unsigned round = 0; round < 300; ++round) {
        kernel_side::warp_submitter copies(queue);
        kernel_side::word const ticket = submit_one(copies);
        EXPECT_GT(ticket, last);
        last = ticket;
    }
    kernel_side::warp_submitter copies(queue);
    EXPECT_EQ(copies.wait(last, kernel_side::patience), kernel_side::status::ok);
}

TEST_F(kernel_channel_test, a_second_warp_is_refused_while_one_has_the_queue) {
    std::optional<kernel_side::warp_submitter> first(std::in_place, queue);
    {
        kernel_side::warp_submitter second(queue);
        kernel_side::word ticket = 0;
        EXPECT_EQ(second.submit(
                      1, [&](unsigned) { return one(); }, ticket),
                  kernel_side::status::busy);
        EXPECT_EQ(second.wait(1, 0), kernel_side::status::busy);
    }
    kernel_side::word const ticket = submit_one(*first);
    first.reset();
    kernel_side::warp_submitter third(queue);
    EXPECT_GT(submit_one(third), ticket);
}

TEST_F(kernel_channel_test, refuses_what_is_not_allowed) {
    kernel_side::warp_submitter copies(queue);
    kernel_side::word ticket = 0;
    EXPECT_EQ(copies.submit(
                  kernel_side::queue::most_pieces + 1, [&](unsigned) { return one(); }, ticket),
              kernel_side::status::invalid);
    EXPECT_EQ(copies.submit(1, [&](unsigned) { return one(); }, ticket, {host.address() + 2, 1, 0}),
              kernel_side::status::invalid);
    kernel_side::queue other = queue;
    ++other.layout;
    kernel_side::warp_submitter of_other(other);
    EXPECT_EQ(of_other.submit(
                  1, [&](unsigned) { return one(); }, ticket),
              kernel_side::status::invalid);
    EXPECT_EQ(ticket, 0u);
    EXPECT_EQ(of_other.wait(1, 0), kernel_side::status::invalid);
}

TEST_F(kernel_channel_test, a_piece_that_is_too_long_is_left_out) {
    std::vector<std::byte> const sent = pattern(4096, 3);
    expect_success(cuda::api().memcpy_htod(block.address(), sent.data(), sent.size()));
    std::ranges::fill(host.bytes(), std::byte{0});
    kernel_side::warp_submitter copies(queue);
    kernel_side::word ticket = 0;
    EXPECT_EQ(copies.submit(
                  3,
                  [&](unsigned i) {
                      return piece(host.address() + i * 1024, block.address() + i * 1024,
                                   i == 1 ? kernel_side::queue::most_bytes + 1 : 1024);
                  },
                  ticket, {}, kernel_side::patience),
              kernel_side::status::invalid_piece);
    EXPECT_EQ(copies.wait(ticket, kernel_side::patience), kernel_side::status::ok);
    EXPECT_TRUE(same_bytes(host.bytes().first(1024), std::span(sent).first(1024)));
    EXPECT_TRUE(std::ranges::all_of(host.bytes().subspan(1024, 1024),
                                    [](std::byte each) { return each == std::byte{0}; }));
    EXPECT_TRUE(same_bytes(host.bytes().subspan(2048, 1024), std::span(sent).subspan(2048, 1024)));
}

TEST_F(kernel_channel_test, a_stopped_channel_is_told_to_both_sides) {
    EXPECT_FALSE(channel->failure());
    kernel_side::warp_submitter copies(queue);
    kernel_side::word ticket = 0;
    ASSERT_EQ(copies.submit(
                  1, [&](unsigned) { return piece(host.address(), 0x1000, 4); }, ticket),
              kernel_side::status::ok); // nothing is mapped there
    std::optional<std::string> why;
    while (!(why = channel->failure()))
        std::this_thread::yield();
    EXPECT_NE(why->find("error 31"), std::string::npos) << *why;
    EXPECT_EQ(copies.wait(ticket, kernel_side::patience), kernel_side::status::failed);
    EXPECT_EQ(machine->kernel().violations().size(), 0u);
    channel.reset();
    channel.emplace(identify(0), engine::kernel_channel::form{}); // one made anew works
    kernel_side::warp_submitter again(channel->queue_for_thread());
    EXPECT_EQ(again.wait(submit_one(again), kernel_side::patience), kernel_side::status::ok);
}

TEST_F(kernel_channel_test, what_kernels_get_names_the_same_places_by_addresses_of_the_gpu) {
    kernel_side::queue const& theirs = channel->queue();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(theirs.commands), theirs.commands_address);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(theirs.semaphore), theirs.semaphore_address);
    EXPECT_EQ(theirs.commands_address, queue.commands_address);
    EXPECT_EQ(theirs.token, queue.token);
    EXPECT_NE(theirs.doorbell, queue.doorbell);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(theirs.doorbell) % 0x10000, 0x90u);
}

class kernel_channel_ways : public testing::TestWithParam<engine_way> {};

TEST_P(kernel_channel_ways, are_there_from_hopper_on_and_elsewhere_if_the_cpu_may_ring) {
    engine_machine machine(GetParam().engine, GetParam().how);
    device const gpu = device::open(0);
    bool const is_new = GetParam().how.chip == "GH100" || GetParam().how.chip == "GB100";
    if (!is_new) {
        EXPECT_EQ(kernel_side::code_of([] { engine::kernel_channel const made(identify(0), {}); }),
                  errc::backend_absent);
    }
    device_block const block(4096);
    pinned_block const host(4096);
    engine::kernel_channel const made(identify(0), {.or_rung_by_cpu = true});
    EXPECT_EQ(made.is_rung_by_cpu(), !is_new);
    kernel_side::warp_submitter copies(made.queue_for_thread());
    for (unsigned round = 0; round < 3; ++round) {
        std::vector<std::byte> const sent = pattern(4096, round);
        expect_success(cuda::api().memcpy_htod(block.address(), sent.data(), sent.size()));
        kernel_side::word ticket = 0;
        ASSERT_EQ(copies.submit(
                      1,
                      [&](unsigned) {
                          return kernel_side::piece{host.address(), block.address(), 4096};
                      },
                      ticket),
                  kernel_side::status::ok);
        EXPECT_EQ(copies.wait(ticket, kernel_side::patience), kernel_side::status::ok);
        EXPECT_TRUE(same_bytes(host.bytes(), sent));
        // Longer than the attendant stays awake.
        std::this_thread::sleep_for(std::chrono::milliseconds(round * 3));
    }
    // Signals of 8 bytes came with GA10x.
    bool const has_8 = GetParam().how.chip != "TU102" && GetParam().how.chip != "GA100";
    EXPECT_EQ(made.queue().most_signal_bytes, has_8 ? 8u : 4u);
}

std::vector<engine_way> channel_ways() {
    std::vector<engine_way> result;
    for (engine_way const& each : held_ways())
        if (std::string_view(each.engine) == "channel")
            result.push_back(each);
    for (unsigned series : {535u, 550u, 555u, 590u, 595u})
        result.push_back({series == 535u   ? "channel_hopper_535"
                          : series == 550u ? "channel_hopper_550"
                          : series == 555u ? "channel_hopper_555"
                          : series == 590u ? "channel_hopper_590"
                                           : "channel_hopper_595",
                          "channel",
                          {.series = series, .chip = "GH100"}});
    return result;
}
INSTANTIATE_TEST_SUITE_P(all, kernel_channel_ways, testing::ValuesIn(channel_ways()), name_of_way);

} // namespace
} // namespace barmap::contract
