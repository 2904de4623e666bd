// SPDX-License-Identifier: MIT
#include <barmap/gpu/counter.cuh>
#include <barmap/gpu/rpc.cuh>
#include <barmap/gpu/warp_ring.cuh>

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <string>

/// How long GPU code waits before it gives up, and how often it asks meanwhile whether the other side has
/// closed, which costs another trip, and reads the clock.
namespace barmap::gpu {
namespace {

struct counts {
    std::ptrdiff_t polls, questions;
    long readings = 0;
    bool operator==(counts const&) const = default;
};
std::ostream& operator<<(std::ostream& to, counts const& of) {
    return to << of.polls << " polls, " << of.questions << " questions and " << of.readings << " readings";
}

/// How long to wait, and what that takes where there is one question for 64 polls, and one for each.
struct {
    word nanoseconds;
    counts each_64, each;
} constexpr waits[] = {
    {0, {1, 1, 0}, {1, 1, 0}},
    {1, {128, 2, 2}, {128, 128, 2}},
    {noted::tick, {128, 2, 2}, {128, 128, 2}},
    {noted::tick + 1, {192, 3, 3}, {192, 192, 3}},
};

class wait_test : public testing::Test {
protected:
    wait_test() {
        noted::trace.places = {{&polled_, 1, "P"}, {&closed_, 1, "C"}};
    }
    template <class Run>
    counts of(Run run) {
        long const begin = noted::now.tv_nsec;
        std::string const seen = noted::accesses([&] { result_ = run(); });
        return {std::count(seen.begin(), seen.end(), 'P'), std::count(seen.begin(), seen.end(), 'C'),
                (noted::now.tv_nsec - begin) / noted::tick};
    }

    /// Rings of one slot, of which the first is empty and the second full.
    ring_to_gpu<word> to_gpu() {
        noted::trace.places = {{&slots_[1], 1, "P"}, {&control_[ring_words::closed_by_producer], 1, "C"}};
        return {slots_.data(), control_.data(), credits_.data(), 0};
    }
    ring_to_cpu<word> to_cpu() {
        credits_[ring_words::next] = 1;
        noted::trace.places = {{&credits_[ring_words::read], 1, "P"},
                               {&credits_[ring_words::closed_by_consumer], 1, "C"}};
        return {slots_.data(), control_.data(), credits_.data(), 0};
    }

    status result_ = status::ok;
    word polled_ = 0, closed_ = 0;
    std::array<word, 64> slots_{};
    std::array<word, 8> control_{}, credits_{};
};

TEST_F(wait_test, consumers_ask_after_64_polls) {
    word value = 0;
    unsigned count = 0;
    consumer<word> thread(to_gpu());
    warp_consumer<word> warp(to_gpu());
    for (auto const& [ns, expected, unused] : waits) {
        status const nothing = ns == 0 ? status::empty : status::timed_out;
        EXPECT_EQ(of([&, time = ns] { return thread.pop(value, time); }), expected);
        EXPECT_EQ(result_, nothing);
        EXPECT_EQ(of([&, time = ns] { return warp.pop(value, count, time); }), expected);
        EXPECT_EQ(result_, nothing);
    }
    control_[ring_words::closed_by_producer] = 1;
    EXPECT_EQ(of([&] { return thread.pop(value, 1); }), (counts{65, 1})) << "one poll more";
    EXPECT_EQ(of([&] { return warp.pop(value, count, 1); }), (counts{65, 1}));
    EXPECT_EQ(result_, status::closed);
}

TEST_F(wait_test, producers_ask_after_64_polls) {
    producer<word> thread(to_cpu());
    warp_producer<word> warp(to_cpu());
    for (auto const& [ns, expected, unused] : waits) {
        status const nothing = ns == 0 ? status::full : status::timed_out;
        EXPECT_EQ(of([&, time = ns] { return thread.push(5, time); }), expected);
        EXPECT_EQ(result_, nothing);
        EXPECT_EQ(of([&, time = ns] { return warp.push(5, 1, time); }), expected);
        EXPECT_EQ(result_, nothing);
    }
    credits_[ring_words::closed_by_consumer] = 1;
    EXPECT_EQ(of([&] { return thread.push(5, 1); }), (counts{64, 1}));
    EXPECT_EQ(of([&] { return warp.push(5, 1, 1); }), (counts{64, 1}));
    EXPECT_EQ(result_, status::closed);
}

TEST_F(wait_test, a_push_beside_others_asks_at_each_poll) {
    for (auto const& [ns, unused, expected] : waits) {
        EXPECT_EQ(of([&, time = ns] { return push(to_cpu(), word{5}, time); }), expected);
        EXPECT_EQ(result_, ns == 0 ? status::full : status::timed_out);
    }
}

TEST_F(wait_test, who_waits_for_a_counter_reads_the_clock_after_64_polls) {
    counter_to_gpu const counter{&polled_};
    for (auto const& [ns, expected, unused] : waits) {
        EXPECT_EQ(of([&, time = ns] { return wait_for(counter, 1, time); }),
                  (counts{expected.polls, 0, expected.readings}));
        EXPECT_EQ(result_, ns == 0 ? status::empty : status::timed_out);
    }
}

TEST_F(wait_test, callers_ask_after_64_polls_for_a_reply_and_at_each_for_a_slot) {
    std::array<word, 1> owner{};
    std::array<word, rpc_words::count> control{};
    std::array<word, 8> requests{};
    rpc_to_cpu<word, word> const cpu{requests.data(), slots_.data(), owner.data(), control.data(), 0};
    word reply = 0;
    for (auto const& [ns, expected, unused] : waits) {
        owner[0] = control[rpc_words::next] = 0; // the slot is free
        noted::trace.places = {{&slots_[1], 1, "P"}, {&control[rpc_words::closed_by_cpu], 1, "C"}};
        EXPECT_EQ(of([&, time = ns] { return call(cpu, word{1}, reply, time); }), expected);
        EXPECT_EQ(result_, status::timed_out);
    }
    for (auto const& [ns, unused, expected] : waits) {
        status const nothing = ns == 0 ? status::full : status::timed_out;
        noted::trace.places = {{owner.data(), 1, "P"}, {&control[rpc_words::closed_by_cpu], 1, "C"}};
        EXPECT_EQ(of([&, time = ns] { return call(cpu, word{1}, reply, time); }), expected)
            << "the slot was left, and there is no reply";
        EXPECT_EQ(result_, nothing);
        caller<word, word> alone(cpu);
        EXPECT_EQ(of([&, time = ns] { return alone.call(word{1}, reply, time); }), expected);
        EXPECT_EQ(result_, nothing);
    }
}

TEST_F(wait_test, a_call_waits_no_longer_than_said_for_slot_and_reply_together) {
    std::array<word, 1> owner{detail::owner::left_by(1)}; // another call's
    std::array<word, rpc_words::count> control{};
    std::array<word, 8> requests{};
    rpc_to_cpu<word, word> const cpu{requests.data(), slots_.data(), owner.data(), control.data(), 0};
    noted::trace.places = {{&slots_[1], 1, "P"}};
    word reply = 0;
    for (bool const is_alone : {false, true}) {
        caller<word, word> alone(cpu);
        noted::at_reading = [&] { owner[0] = detail::owner::free_for(control[rpc_words::next]); };
        EXPECT_EQ(of([&] {
                      return is_alone ? alone.call(word{1}, reply, noted::tick)
                                      : call(cpu, word{1}, reply, noted::tick);
                  }),
                  (counts{64, 0, 2}))
            << "one reading without a slot, and one without a reply";
        EXPECT_EQ(result_, status::timed_out);
        noted::at_reading = [] {};
        owner[0] = detail::owner::left_by(7);
    }
}

// O40: credits are returned for a quarter of the slots at a time.
TEST_F(wait_test, consumers_return_credits_for_a_quarter) {
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
