// SPDX-License-Identifier: MIT
#include "interleavings.hpp"

#include <gtest/gtest.h>

/// The protocol of rings (core/include/barmap/gpu/ring.cuh, ring.hpp) as a model, in all its
/// interleavings: stores through a mapping are under way for as long as they like and arrive in
/// any order that barriers leave; credits travel, too. It finds what no run on a machine is likely
/// to, and each rule that is left out is found.
namespace barmap::model {
namespace {

constexpr unsigned slots = 2, lines = 3, messages = 6;

/// What may be left out.
struct rules {
    bool fence_before_commit = true;
    bool each_line_commits = true;
    bool commit_before_payload = true; ///< the consumer looks at the former first
    bool credit_after_payload = true;
    bool waits_for_credit = true;
    bool line_is_one_store = false; ///< MOVDIR64B: then there is no fence
    bool commit_is_a_number = true; ///< or else only whether there is a message
};

struct state {
    /// GPU memory, for each slot and line: the number of the message whose payload is there, plus
    /// 1, and the commit word.
    std::array<std::uint8_t, slots * lines * 2> memory{};
    posted_stores<4 * lines, 2> under_way;
    // The producer: the message, and the next step of it.
    std::uint8_t pushed = 0, step = 0;
    // Credits that are there, and the last one that is on its way.
    std::uint8_t credit = 0, returned = 0;
    // The consumer: the message, the next step of it, and what it has read.
    std::uint8_t popped = 0, look = 0;
    std::array<std::uint8_t, lines> read{};
};

constexpr unsigned payload(unsigned message, unsigned line) {
    return (message % slots * lines + line) * 2;
}

class ring {
public:
    explicit ring(rules which) : rules_(which) {}

    std::string run() {
        return all_.run(
            {},
            [this](state const& now, interleavings<state>&) {
                produce(now);
                let_arrive(now, &state::under_way, &state::memory, all_);
                if (now.credit != now.returned) {
                    state next = now;
                    next.credit = now.returned;
                    all_.add(next);
                }
                consume(now);
            },
            [](state const& now) { return now.popped == messages; });
    }
    [[nodiscard]] std::size_t states() const { return all_.states(); }

private:
    void produce(state next) {
        if (next.pushed == messages || !next.under_way.has_room_for(1))
            return;
        if (next.step == 0 && rules_.waits_for_credit && next.pushed - next.credit >= int(slots))
            return;
        unsigned const number = next.pushed + 1u;
        if (rules_.line_is_one_store) {
            next.under_way.store(payload(next.pushed, next.step), {number, number});
        } else if (next.step < lines) {
            next.under_way.store(payload(next.pushed, next.step), {number});
            if (next.step == lines - 1 && rules_.fence_before_commit)
                next.under_way.fence();
        } else {
            unsigned const line = next.step - lines;
            if (rules_.each_line_commits || line == lines - 1)
                next.under_way.store(payload(next.pushed, line) + 1, {number});
        }
        if (++next.step == (rules_.line_is_one_store ? lines : 2 * lines)) {
            next.step = 0;
            ++next.pushed;
        }
        all_.add(next);
    }

    [[nodiscard]] bool is_committed(state const& now, unsigned line) const {
        if (!rules_.each_line_commits && line != lines - 1)
            return true;
        unsigned const found = now.memory[payload(now.popped, line) + 1];
        return rules_.commit_is_a_number ? found == now.popped + 1u : found != 0;
    }

    void consume(state next) {
        if (next.popped == messages)
            return;
        // Steps: the commit words, the payload's lines, the credit. Or the payload first.
        unsigned const first = rules_.commit_before_payload ? 0 : lines;
        unsigned const at = (next.look + first) % (2 * lines);
        if (next.look == 2 * lines) {
            if (rules_.credit_after_payload)
                next.returned = std::uint8_t(next.popped + 1);
            for (unsigned line = 0; line < lines; ++line)
                if (next.read[line] != next.popped + 1)
                    all_.fail("message " + std::to_string(next.popped) + " has line " +
                              std::to_string(line) + " of " + std::to_string(next.read[line] - 1));
            ++next.popped;
            next.look = 0;
            next.read = {};
            return all_.add(next);
        }
        if (at < lines) {
            if (!is_committed(next, at)) { // from the beginning
                next.look = 0;
                next.read = {};
                return all_.add(next);
            }
            if (at == lines - 1 && !rules_.credit_after_payload)
                next.returned = std::uint8_t(next.popped + 1);
        } else {
            next.read[at - lines] = next.memory[payload(next.popped, at - lines)];
        }
        ++next.look;
        all_.add(next);
    }

    rules rules_;
    interleavings<state> all_;
};

TEST(ring_model_test, no_interleaving_tears_or_loses_a_message) {
    for (bool const line_is_one_store : {false, true}) {
        rules all;
        all.line_is_one_store = line_is_one_store;
        ring model(all);
        EXPECT_EQ(model.run(), "");
        EXPECT_GT(model.states(), 1000u) << "it goes through all of them";
    }
}

TEST(ring_model_test, each_rule_is_needed) {
    auto const without = [](bool rules::*which) {
        rules some;
        some.*which = false;
        return ring(some).run();
    };
    EXPECT_NE(without(&rules::fence_before_commit), "");
    EXPECT_NE(without(&rules::commit_before_payload), "");
    EXPECT_NE(without(&rules::credit_after_payload), "");
    EXPECT_NE(without(&rules::waits_for_credit), "");
    EXPECT_NE(without(&rules::commit_is_a_number), "");
    // With the fence one commit word for all lines would do; without it, each line needs its own.
    EXPECT_EQ(without(&rules::each_line_commits), "");
    rules lines_alone;
    lines_alone.line_is_one_store = true;
    lines_alone.each_line_commits = false;
    EXPECT_NE(ring(lines_alone).run(), "");
}

} // namespace
} // namespace barmap::model
