// SPDX-License-Identifier: MIT
#include "interleavings.hpp"

#include <gtest/gtest.h>

/// The protocol of counters (core/include/barmap/counter.hpp, gpu/counter.cuh) as a model, as ring_model_test
/// has that of rings (O43): data is stored, then the counter; and several threads arrive, of which the
/// last one stores it.
namespace barmap::model {
namespace {

constexpr unsigned most_threads = 3, rounds = 2;
// Of memory: what each thread stores, and the counter.
constexpr unsigned counter = most_threads;

/// What may be left out.
struct rules {
    bool fence_before_counter = true;
    bool counter_before_data = true;  ///< whoever waits looks at the former first
    bool arrivals_are_added = true;   ///< by one access, or else by a load and a store
    bool arrivals_are_ordered = true; ///< so that the last one's fence is behind what others stored
    bool last_one_stores = true;      ///< or else each of them
};

enum class doing : std::uint8_t { stores_data, arrives, adds, stores_counter, waits };

struct arriving {
    doing now = doing::stores_data;
    std::uint8_t round = 1, before = 0;
};

struct state {
    std::array<std::uint8_t, most_threads + 1> memory{};
    std::array<posted_stores<4, 1>, most_threads> under_way;
    std::array<arriving, most_threads> threads{};
    std::uint8_t arrived = 0;
    // The other side: the round that it waits for, how much it has read of that, and the counter.
    std::uint8_t round = 1, looked = 0, seen = 0;
};

class counting {
public:
    counting(unsigned threads, rules which) : threads_(threads), rules_(which) {}

    std::string run() {
        return all_.run(
            {},
            [this](state const& now, interleavings<state>&) {
                for (unsigned i = 0; i < threads_; ++i) {
                    arrive(now, i);
                    now.under_way[i].each_next([&](unsigned which) {
                        state next = now;
                        next.under_way[i].arrive(which, next.memory);
                        all_.add(next);
                    });
                }
                wait(now);
            },
            [](state const& now) { return now.round > rounds; });
    }

private:
    /// Whose stores a fence orders, where others were seen to arrive.
    [[nodiscard]] unsigned buffer(unsigned thread) const {
        return rules_.arrivals_are_ordered ? 0 : thread;
    }
    void arrive(state next, unsigned which) {
        arriving& of = next.threads[which];
        auto& under_way = next.under_way[buffer(which)];
        bool const stores = of.now == doing::stores_data || of.now == doing::stores_counter;
        if (of.round > rounds || (stores && !under_way.has_room_for(1)))
            return;
        switch (of.now) {
        case doing::stores_data:
            under_way.store(which, {of.round});
            of.now = doing::arrives;
            break;
        case doing::arrives:
            of.before = next.arrived;
            if (rules_.arrivals_are_added)
                ++next.arrived;
            of.now = rules_.arrivals_are_added ? doing::stores_counter : doing::adds;
            if (rules_.arrivals_are_added && (of.before + 1u) % threads_ != 0 &&
                rules_.last_one_stores)
                of.now = doing::waits;
            break;
        case doing::adds:
            next.arrived = std::uint8_t(of.before + 1);
            of.now = (of.before + 1u) % threads_ == 0 ? doing::stores_counter : doing::waits;
            break;
        case doing::stores_counter:
            if (rules_.fence_before_counter)
                under_way.fence();
            under_way.store(counter,
                            {rules_.last_one_stores ? (of.before + 1u) / threads_ : of.round});
            of.now = doing::waits;
            break;
        case doing::waits: // each arrives once for each round
            if (next.memory[counter] < of.round)
                return;
            of.now = doing::stores_data;
            ++of.round;
        }
        all_.add(next);
    }

    void wait(state next) {
        if (next.round > rounds)
            return;
        bool const is_counter = (next.looked == 0) == rules_.counter_before_data;
        if (is_counter) {
            if (next.memory[counter] < next.round) {
                next.looked = next.seen = 0;
                return all_.add(next);
            }
        } else {
            next.seen = 1;
            for (unsigned i = 0; i < threads_; ++i)
                next.seen = next.seen && next.memory[i] >= next.round;
        }
        if (++next.looked == 2) {
            if (next.seen == 0)
                all_.fail("the counter was there before what it says");
            next.looked = next.seen = 0;
            ++next.round;
        }
        all_.add(next);
    }

    unsigned threads_;
    rules rules_;
    interleavings<state> all_;
};

TEST(signal_model_test, whoever_sees_a_counter_sees_what_was_stored_before) {
    for (unsigned threads = 1; threads <= most_threads; ++threads)
        EXPECT_EQ(counting(threads, {}).run(), "") << threads;
}

TEST(signal_model_test, each_rule_is_needed) {
    auto const without = [](bool rules::*which, unsigned threads) {
        rules some;
        some.*which = false;
        return counting(threads, some).run();
    };
    for (unsigned const threads : {1u, 2u}) {
        EXPECT_NE(without(&rules::fence_before_counter, threads), "");
        EXPECT_NE(without(&rules::counter_before_data, threads), "");
    }
    EXPECT_NE(without(&rules::arrivals_are_added, 2), "");
    EXPECT_NE(without(&rules::arrivals_are_ordered, 2), "");
    EXPECT_NE(without(&rules::last_one_stores, 2), "");
}

} // namespace
} // namespace barmap::model
