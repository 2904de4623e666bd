// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/command_ring.hpp"

#include "nvidia/channel.hpp"
#include "system/region.hpp"

#if defined(__x86_64__)
#include "access_trace.hpp"
#endif
#include <barmap/gpu/copy_commands.cuh>

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <vector>

namespace barmap::engine {
namespace {

namespace abi = rm::abi;
namespace commands = barmap::gpu::commands;

constexpr std::size_t doorbell_at = command_ring::block_bytes;
constexpr std::size_t doorbell_bytes = 65536;
constexpr std::uint32_t token = 77;

constexpr std::size_t rounded_up(std::size_t pieces) {
    return (pieces + command_ring::most_pieces - 1) / command_ring::most_pieces;
}

/// A ring in ordinary memory, whose semaphore the test moves.
class command_ring_test : public testing::Test {
protected:
    [[nodiscard]] command_ring::places places(ticket last = 0) {
        semaphore_ = static_cast<std::uint32_t>(last);
        return {memory_.data(),
                std::uint64_t{1} << 32,
                reinterpret_cast<std::uint32_t*>(memory_.data() + doorbell_at),
                token,
                &semaphore_,
                0x1000,
                0xc8b5,
                0x2040,
                last};
    }
    template <class Word>
    [[nodiscard]] Word at(std::size_t offset) const {
        return *reinterpret_cast<Word const volatile*>(memory_.data() + offset);
    }
    static std::vector<copy_piece> pieces(std::size_t count) {
        std::vector<copy_piece> list;
        for (std::size_t i = 0; i < count; ++i)
            list.push_back({0x100000 + i, 0x200000 + i, 1 + i % 3});
        return list;
    }
    os::region memory_ = os::region::shared_memory(command_ring::block_bytes + doorbell_bytes);
    std::uint32_t semaphore_ = 0;
};

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// The GPU must find what each step leads to.
TEST_F(command_ring_test, writes_words_then_the_end_then_the_doorbell_each_behind_a_fence) {
    command_ring ring(places());
    auto const list = pieces(3);
    std::string order;
    for (copy::traced_step const& each : copy::trace_steps({memory_.data(), memory_.size()}, true,
                                                           [&] { (void)ring.submit(list); })) {
        char letter = static_cast<char>(each.what);
        if (each.what == copy::step::locked)
            continue; // what an unoptimised build makes of an atomic store
        if (each.what == copy::step::access)
            letter = each.at == doorbell_at                                  ? 'D'
                     : each.at == command_ring::userd_at + commands::userd_gp_put ? 'E'
                     : each.at >= command_ring::words_at                     ? 'w'
                                                                             : 'g';
        if (order.empty() || order.back() != letter)
            order += letter;
    }
    EXPECT_EQ(order, "wgSESDS");
}

#endif

TEST_F(command_ring_test, rings_with_its_token_for_all_entries) {
    command_ring ring(places());
    (void)ring.submit(pieces(1));
    EXPECT_EQ(at<std::uint32_t>(doorbell_at), token);
    EXPECT_EQ(at<std::uint32_t>(command_ring::userd_at + commands::userd_gp_put), 2u)
        << "the first leads to what is set once";
    EXPECT_NE(at<std::uint64_t>(0), 0u);
    EXPECT_NE(at<std::uint64_t>(8), 0u);
    EXPECT_EQ(at<std::uint64_t>(16), 0u);
}

// The first waits for all submissions before; the last says that all is there.
TEST_F(command_ring_test, launches_the_first_alone_and_flushes_behind_the_last) {
    command_ring ring(places());
    auto const launches = [&] {
        std::vector<std::uint32_t> seen;
        for (std::size_t i = command_ring::words_at; i < command_ring::words_at + 4096; i += 4)
            for (std::uint32_t const value : {0x182u, 0x181u, 0x18du, 0x18eu})
                if (at<std::uint32_t>(i) ==
                    commands::immediate_method(commands::copy_subchannel, commands::method_launch_dma, value))
                    seen.push_back(value);
        return seen;
    };
    (void)ring.submit(pieces(3));
    EXPECT_EQ(launches(), (std::vector<std::uint32_t>{0x182, 0x181, 0x18d}));
    (void)ring.submit(pieces(1));
    EXPECT_EQ(launches(), (std::vector<std::uint32_t>{0x182, 0x181, 0x18d, 0x18e}));
}

TEST_F(command_ring_test, has_room_again_when_tickets_are_done) {
    command_ring ring(places());
    auto const one = pieces(1);
    ticket last = 0;
    while (ring.has_room(1))
        last = ring.submit(one);
    EXPECT_EQ(last, 255u);
    EXPECT_EQ(ring.progress(), 0u);
    semaphore_ = 1;
    EXPECT_EQ(ring.progress(), 1u);
    EXPECT_TRUE(ring.has_room(1));
    EXPECT_EQ(ring.submit(one), 256u);
    EXPECT_FALSE(ring.has_room(1));
    semaphore_ = 256;
    EXPECT_EQ(ring.progress(), 256u);

    // Large ones fill it by their words.
    auto const many = pieces(command_ring::most_pieces);
    std::size_t fit = 0;
    for (; ring.has_room(many.size()); ++fit)
        last = ring.submit(many);
    EXPECT_GT(fit, 8u);
    EXPECT_LT(fit, 20u);
    semaphore_ = static_cast<std::uint32_t>(last);
    for (int i = 0; i < 100; ++i) { // round and round
        ASSERT_TRUE(ring.has_room(many.size()));
        semaphore_ = static_cast<std::uint32_t>(ring.submit(many));
    }
}

TEST_F(command_ring_test, counts_on_where_the_semaphore_wraps) {
    ticket const first = (std::uint64_t{5} << 32) - 3;
    command_ring ring(places(first));
    EXPECT_EQ(ring.progress(), first);
    auto const one = pieces(1);
    for (ticket next = first + 1; next < first + 600; ++next) {
        ASSERT_TRUE(ring.has_room(1));
        ASSERT_EQ(ring.submit(one), next);
        EXPECT_EQ(ring.progress(), next - 1);
        semaphore_ = static_cast<std::uint32_t>(next);
        ASSERT_EQ(ring.progress(), next);
    }
}

// Above 2^40 the addresses of a ring's entries do not fit into them.
TEST_F(command_ring_test, says_first_where_high_addresses_lie) {
    command_ring::places high = places();
    high.block_on_gpu = (std::uint64_t{0x7f} << 40) + (std::uint64_t{2} << 20);
    command_ring ring(high);
    (void)ring.submit(pieces(1));
    EXPECT_EQ(at<std::uint64_t>(0), std::uint64_t{0x7f} << 8 | std::uint64_t{4} << 32);
    EXPECT_EQ(at<std::uint64_t>(8) & 0xff'ffff'ffff, (2u << 20) + command_ring::words_at);
    EXPECT_EQ(at<std::uint32_t>(command_ring::userd_at + commands::userd_gp_put), 3u);
}

TEST_F(command_ring_test, acquires_a_word_before_the_copies) {
    command_ring ring(places());
    (void)ring.submit(pieces(1));
    (void)ring.submit(pieces(1), {0x12'3456'7890, 42});
    std::uint64_t const entry = at<std::uint64_t>(16);
    std::size_t const begin = (entry & 0xff'ffff'ffff) - (std::uint64_t{1} << 32);
    std::vector<std::uint32_t> first(12);
    for (std::size_t i = 0; i < first.size(); ++i)
        first[i] = at<std::uint32_t>(begin + i * 4);
    // Then it says which ticket begins.
    EXPECT_EQ(first,
              (std::vector<std::uint32_t>{commands::methods(0, 0x5c, 5), 0x3456'7890, 0x12, 42, 0,
                                          1u << 12, commands::methods(0, 0x5c, 5), 0x2040, 0, 2, 0, 1}));
}

// The words of a run are contiguous, and what comes behind the block is another's.
TEST_F(command_ring_test, stays_inside_its_block) {
    command_ring ring(places());
    std::uint32_t random = 1;
    std::memset(memory_.data() + command_ring::block_bytes, 0x5a, doorbell_bytes);
    for (int i = 0; i < 20'000; ++i) {
        random = random * 1664525 + 1013904223;
        auto const list = pieces(random >> 16 & 0x1ff);
        semaphore_word const begin{(random & 1) != 0 ? std::uint64_t{0x1000} : 0, 1};
        if (!ring.has_room(list.size()))
            semaphore_ = static_cast<std::uint32_t>(ring.next() - 1);
        ASSERT_TRUE(ring.has_room(list.size()));
        (void)ring.submit(list, begin);
        *reinterpret_cast<std::uint32_t*>(memory_.data() + doorbell_at) = 0x5a5a5a5a;
    }
    EXPECT_TRUE(
        std::ranges::all_of(std::span(memory_.data() + command_ring::block_bytes, doorbell_bytes),
                            [](std::byte each) { return each == std::byte{0x5a}; }));
}

// A GPFIFO whose GET and PUT are equal is empty: it is never filled.
TEST_F(command_ring_test, never_fills_the_gpfifo) {
    auto const four = pieces(32 + 3 * 128), five = pieces(32 + 4 * 128);
    for (std::size_t fives = 0; fives < 8; ++fives) {
        command_ring ring(places());
        std::size_t entries = 1, tickets = 0;
        for (;; ++tickets) {
            auto const& next = tickets < fives ? five : four;
            if (!ring.has_room(next.size()))
                break;
            (void)ring.submit(next);
            entries += tickets < fives ? 5 : 4;
        }
        EXPECT_LT(entries, command_ring::gpfifo_entries);
        EXPECT_EQ(at<std::uint32_t>(command_ring::userd_at + commands::userd_gp_put), entries);
    }
}

// Of such tickets has_room() counts no entry too many. An engine that has done nothing yet has not
// read what the ring's constructor wrote either.
TEST_F(command_ring_test, leaves_one_entry_of_the_gpfifo_unused) {
    copy_piece const one{0x100000, 0x200000, 64}; // of one length, so that they take few words
    std::vector<copy_piece> const four(32 + 2 * 128 + 1, one), five(32 + 3 * 128 + 1, one);
    for (bool const is_new : {false, true}) {
        for (std::size_t fives = 0; fives < 16; ++fives) {
            semaphore_ = 0;
            command_ring ring(places());
            std::size_t read = 0, entries = 1; // the constructor's
            if (!is_new) {
                (void)ring.submit(pieces(1));
                semaphore_ = 1;
                read = entries + 1;
                entries = 0;
            }
            for (std::size_t tickets = 0;; ++tickets) {
                auto const& next = tickets < fives ? five : four;
                if (!ring.has_room(next.size()))
                    break;
                (void)ring.submit(next);
                entries += tickets < fives ? 5 : 4;
            }
            EXPECT_LT(entries, command_ring::gpfifo_entries) << is_new;
            EXPECT_EQ(at<std::uint32_t>(command_ring::userd_at + commands::userd_gp_put),
                      (read + entries) % command_ring::gpfifo_entries);
        }
    }
}

// The engine keeps a length until another one is set.
TEST_F(command_ring_test, sets_each_length_that_differs) {
    command_ring ring(places());
    std::vector<copy_piece> list;
    std::vector<std::uint32_t> const sizes{65536, 131072, 65536, 65536, 1u << 30, 1};
    for (std::uint32_t const bytes : sizes)
        list.push_back({0x100000, 0x200000, bytes});
    (void)ring.submit(list);
    std::size_t const begin = (at<std::uint64_t>(8) & 0xff'ffff'ffff) - (std::uint64_t{1} << 32);
    std::vector<std::uint32_t> lengths;
    for (std::size_t i = 0; i < at<std::uint64_t>(8) >> 42; ++i)
        if (at<std::uint32_t>(begin + i * 4) ==
            commands::methods(commands::copy_subchannel, commands::method_line_length, 1))
            lengths.push_back(at<std::uint32_t>(begin + i * 4 + 4));
    EXPECT_EQ(lengths, (std::vector<std::uint32_t>{65536, 131072, 65536, 1u << 30, 1}));
}

TEST_F(command_ring_test, has_room_for_several_tickets_at_once) {
    command_ring ring(places());
    EXPECT_TRUE(ring.has_room(0, 255));
    EXPECT_FALSE(ring.has_room(0, 256));
    std::size_t most = 0;
    while (ring.has_room(most + 1000, rounded_up(most + 1000)))
        most += 1000;
    EXPECT_GT(most, 50'000u);
    auto const many = pieces(command_ring::most_pieces);
    for (std::size_t left = most; left > 0;) {
        std::size_t const some = std::min(left, many.size());
        ASSERT_TRUE(ring.has_room(some));
        (void)ring.submit(std::span(many).first(some));
        left -= some;
    }
}

/// Pieces whose host sides, the bytes that are written, lie anywhere in 1 GiB.
std::vector<copy_piece> far_apart(std::size_t count) {
    std::vector<copy_piece> list;
    std::uint32_t random = 1;
    for (std::size_t i = 0; i < count; ++i) {
        random = random * 1664525 + 1013904223;
        list.push_back({0x7f00'0000'0000 + std::uintptr_t{random >> 11} * 512, 0x200000 + i, 512});
    }
    return list;
}

/// Where the copies of the entries from this one on go.
std::vector<std::uintptr_t> places_written(std::byte const* block, std::size_t entry) {
    std::vector<std::uintptr_t> result;
    auto const word = [&](std::size_t offset) {
        return *reinterpret_cast<std::uint32_t const*>(block + offset);
    };
    for (;; ++entry) {
        auto const lead = *reinterpret_cast<std::uint64_t const*>(block + entry * 8);
        if (lead == 0)
            return result;
        std::size_t const begin = (lead & 0xff'ffff'ffff) - (std::uint64_t{1} << 32);
        for (std::size_t at = begin; at < begin + (lead >> 42) * 4; at += 4)
            if (word(at) == commands::methods(commands::copy_subchannel, commands::method_offset_in, 4))
                result.push_back(std::uintptr_t{word(at + 12)} << 32 | word(at + 16));
    }
}

/// Whether parts of 4 MiB follow each other.
bool are_ordered(std::span<std::uintptr_t const> places) {
    return std::ranges::is_sorted(places, {}, [](std::uintptr_t each) { return each >> 22; });
}

std::vector<std::uintptr_t> places_in(std::vector<copy_piece> const& list) {
    std::vector<std::uintptr_t> result;
    for (copy_piece const& each : list)
        result.push_back(each.to);
    return result;
}

TEST_F(command_ring_test, copies_in_the_order_of_host_addresses_if_it_is_told_them) {
    command_ring ring(places());
    auto const list = far_apart(command_ring::most_pieces);
    (void)ring.submit(list);
    EXPECT_EQ(places_written(memory_.data(), 1), places_in(list));
    std::size_t const next = at<std::uint32_t>(command_ring::userd_at + commands::userd_gp_put);

    (void)ring.submit(list, {}, &copy_piece::to); // behind one that is not done: all at once
    auto written = places_written(memory_.data(), next);
    EXPECT_TRUE(are_ordered(written));
    EXPECT_FALSE(are_ordered(places_in(list)));
    auto wanted = places_in(list);
    std::ranges::sort(wanted);
    std::ranges::sort(written);
    EXPECT_EQ(written, wanted) << "each once";
}

// It begins before the others are in order.
TEST_F(command_ring_test, gives_an_idle_engine_the_first_ones_as_they_are) {
    for (std::size_t const count : {1, 543, 544, 545, 700, 4096}) {
        command_ring ring(places());
        std::memset(memory_.data(), 0, command_ring::words_at);
        auto const list = far_apart(count);
        (void)ring.submit(list, {}, &copy_piece::to);
        auto written = places_written(memory_.data(), 1);
        auto wanted = places_in(list);
        ASSERT_EQ(written.size(), count);
        std::size_t const first = std::min<std::size_t>(544, count);
        EXPECT_TRUE(
            std::ranges::equal(std::span(written).first(first), std::span(wanted).first(first)));
        EXPECT_TRUE(are_ordered(std::span(written).subspan(first)));
        std::ranges::sort(written);
        std::ranges::sort(wanted);
        EXPECT_EQ(written, wanted) << count;
    }
}

// It only keeps an order: an acquire, and the semaphore.
TEST_F(command_ring_test, takes_a_ticket_without_pieces) {
    command_ring ring(places());
    EXPECT_EQ(ring.submit({}), 1u);
    std::size_t const begin = (at<std::uint64_t>(8) & 0xff'ffff'ffff) - (std::uint64_t{1} << 32);
    EXPECT_EQ(at<std::uint64_t>(8) >> 42, 3u);
    EXPECT_EQ(at<std::uint32_t>(begin + 4), 1u);
    EXPECT_EQ(at<std::uint32_t>(begin + 8),
              commands::immediate_method(commands::copy_subchannel, commands::method_launch_dma, 0x18c));
    EXPECT_EQ(ring.submit(pieces(1)), 2u);
}

} // namespace
} // namespace barmap::engine
