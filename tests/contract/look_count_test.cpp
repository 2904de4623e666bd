// SPDX-License-Identifier: MIT
#include <barmap/gpu/rpc.cuh>
#include <barmap/gpu/signal.cuh>
#include <barmap/gpu/warp_ring.cuh>

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <string>

/// How often GPU code looks before it gives up, and how often it asks meanwhile whether the other side
/// has closed, which costs another trip.
namespace barmap::gpu {
namespace {

struct counts {
    std::ptrdiff_t looks, questions;
    bool operator==(counts const&) const = default;
};
std::ostream& operator<<(std::ostream& to, counts const& of) {
    return to << of.looks << " looks and " << of.questions << " questions";
}

class look_count_test : public testing::Test {
protected:
    look_count_test() {
        noted::trace.places = {{&looked_at_, 1, "L"}, {&closed_, 1, "C"}};
    }
    template <class Run>
    counts of(Run run) {
        std::string const seen = noted::accesses([&] { result_ = run(); });
        return {std::count(seen.begin(), seen.end(), 'L'), std::count(seen.begin(), seen.end(), 'C')};
    }

    /// Rings of one slot, of which the first is empty and the second full.
    ring_to_gpu<word> to_gpu() {
        noted::trace.places = {{&slots_[1], 1, "L"}, {&control_[ring_words::closed_by_producer], 1, "C"}};
        return {slots_.data(), control_.data(), credits_.data(), 0};
    }
    ring_to_cpu<word> to_cpu() {
        credits_[ring_words::next] = 1;
        noted::trace.places = {{&credits_[ring_words::read], 1, "L"},
                               {&credits_[ring_words::closed_by_consumer], 1, "C"}};
        return {slots_.data(), control_.data(), credits_.data(), 0};
    }

    status result_ = status::ok;
    word looked_at_ = 0, closed_ = 0;
    std::array<word, 64> slots_{};
    std::array<word, 8> control_{}, credits_{};
};

TEST_F(look_count_test, consumers_ask_every_64_looks) {
    word value = 0;
    unsigned count = 0;
    consumer<word> thread(to_gpu());
    warp_consumer<word> warp(to_gpu());
    for (auto const& [more, expected] :
         {std::pair<word, counts>{0, {1, 1}}, {1, {2, 1}}, {63, {64, 1}}, {64, {65, 2}}, {128, {129, 3}}}) {
        status const nothing = more == 0 ? status::empty : status::timed_out;
        EXPECT_EQ(of([&, looks = more] { return thread.pop(value, looks); }), expected);
        EXPECT_EQ(result_, nothing);
        EXPECT_EQ(of([&, looks = more] { return warp.pop(value, count, looks); }), expected);
        EXPECT_EQ(result_, nothing);
    }
    control_[ring_words::closed_by_producer] = 1;
    EXPECT_EQ(of([&] { return thread.pop(value, 1000); }), (counts{65, 1})) << "one look more";
    EXPECT_EQ(of([&] { return warp.pop(value, count, 1000); }), (counts{65, 1}));
    EXPECT_EQ(result_, status::closed);
}

TEST_F(look_count_test, producers_ask_every_64_looks) {
    producer<word> thread(to_cpu());
    warp_producer<word> warp(to_cpu());
    for (auto const& [more, expected] :
         {std::pair<word, counts>{0, {1, 1}}, {1, {2, 1}}, {63, {64, 1}}, {64, {65, 2}}, {128, {129, 3}}}) {
        status const nothing = more == 0 ? status::full : status::timed_out;
        EXPECT_EQ(of([&, looks = more] { return thread.push(5, looks); }), expected);
        EXPECT_EQ(result_, nothing);
        EXPECT_EQ(of([&, looks = more] { return warp.push(5, 1, looks); }), expected);
        EXPECT_EQ(result_, nothing);
    }
    credits_[ring_words::closed_by_consumer] = 1;
    EXPECT_EQ(of([&] { return thread.push(5, 1000); }), (counts{64, 1}));
    EXPECT_EQ(of([&] { return warp.push(5, 1, 1000); }), (counts{64, 1}));
    EXPECT_EQ(result_, status::closed);
}

TEST_F(look_count_test, a_push_beside_others_asks_at_each_look) {
    for (auto const& [more, expected] : {std::pair<word, counts>{0, {1, 1}}, {1, {2, 2}}, {9, {10, 10}}}) {
        EXPECT_EQ(of([&, looks = more] { return push(to_cpu(), word{5}, looks); }), expected);
        EXPECT_EQ(result_, more == 0 ? status::full : status::timed_out);
    }
}

TEST_F(look_count_test, whoever_waits_for_a_word_looks_once_more_than_said) {
    counter_to_gpu const counter{&looked_at_};
    for (word more : {0u, 1u, 9u}) {
        status const nothing = more == 0 ? status::empty : status::timed_out;
        std::ptrdiff_t const looks = static_cast<std::ptrdiff_t>(more) + 1;
        EXPECT_EQ(of([&] { return wait_for(counter, 1, more); }), (counts{looks, 0}));
        EXPECT_EQ(result_, nothing);
    }
}

TEST_F(look_count_test, callers_ask_every_64_looks_for_a_reply_and_at_each_for_a_slot) {
    std::array<word, 1> owner{};
    std::array<word, rpc_words::count> control{};
    std::array<word, 8> requests{};
    rpc_to_cpu<word, word> const cpu{requests.data(), slots_.data(), owner.data(), control.data(), 0};
    word reply = 0;
    for (auto const& [more, expected] :
         {std::pair<word, counts>{0, {1, 1}}, {1, {2, 1}}, {63, {64, 1}}, {64, {65, 2}}, {128, {129, 3}}}) {
        owner[0] = control[rpc_words::next] = 0; // the slot is free
        noted::trace.places = {{&slots_[1], 1, "L"}, {&control[rpc_words::closed_by_cpu], 1, "C"}};
        EXPECT_EQ(of([&, looks = more] { return call(cpu, word{1}, reply, looks); }), expected);
        EXPECT_EQ(result_, status::timed_out);
    }
    for (auto const& [more, expected] : {std::pair<word, counts>{0, {1, 1}}, {1, {2, 2}}, {9, {10, 10}}}) {
        status const nothing = more == 0 ? status::full : status::timed_out;
        noted::trace.places = {{owner.data(), 1, "L"}, {&control[rpc_words::closed_by_cpu], 1, "C"}};
        EXPECT_EQ(of([&, looks = more] { return call(cpu, word{1}, reply, looks); }), expected)
            << "the slot was left, and there is no reply";
        EXPECT_EQ(result_, nothing);
        caller<word, word> alone(cpu);
        EXPECT_EQ(of([&, looks = more] { return alone.call(word{1}, reply, looks); }), expected);
        EXPECT_EQ(result_, nothing);
    }
}

// O40: credits are returned for a quarter of the slots at a time.
TEST_F(look_count_test, consumers_return_credits_for_a_quarter) {
    constexpr unsigned slots = 8;
    ring_to_gpu<word> ring{slots_.data(), control_.data(), credits_.data(), slots - 1};
    for (word i = 0; i < slots; ++i)
        slots_[i * slot_to_gpu<word>::words + 1] = i + 1; // committed
    noted::trace.places = {{&credits_[ring_words::read], 1, "C"}};
    word value = 0;
    unsigned count = 0;
    auto const returned = [&](auto pop) {
        std::string result;
        for (unsigned i = 0; i < slots; ++i)
            result += std::to_string(of([&] { return pop(); }).questions);
        return result;
    };
    consumer<word> thread(ring);
    warp_consumer<word> warp(ring);
    EXPECT_EQ(returned([&] { return thread.pop(value); }), "00101010") << "with the next one";
    EXPECT_EQ(returned([&] { return warp.pop(value, count); }), "01010101");
}

} // namespace
} // namespace barmap::gpu
