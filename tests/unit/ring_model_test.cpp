// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <tuple>
#include <vector>

/// The protocol of rings (include/barmap/gpu/ring.cuh, ring.hpp) as a model, in all its
/// interleavings: stores through a mapping are under way for as long as they like and arrive in
/// any order that barriers leave; credits travel, too. It finds what no run on a machine is likely
/// to, and each rule that is left out is found.
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

/// A store that has not arrived. Those of an earlier epoch arrive before those of a later one.
struct store {
    unsigned epoch, slot, line;
    bool is_commit, is_payload;
    std::uint8_t number; ///< of the message
    auto operator<=>(store const&) const = default;
};

struct state {
    // GPU memory: number of the message whose payload and commit word is there, plus 1.
    std::array<std::array<std::uint8_t, lines>, slots> payload{}, commit{};
    std::multiset<store> under_way;
    unsigned epoch = 0;
    // The producer: the message, and the next step of it.
    std::uint8_t pushed = 0, step = 0;
    // Credits that are there, and the last one that is on its way.
    std::uint8_t credit = 0, returned = 0;
    // The consumer: the message, the next step of it, and what it has read.
    std::uint8_t popped = 0, look = 0;
    std::array<std::uint8_t, lines> read{};
    auto operator<=>(state const&) const = default;
};

class explorer {
public:
    explicit explorer(rules which) : rules_(which) {}

    /// @return what goes wrong in some interleaving, or nothing
    std::string run() {
        add({});
        bool is_finished = false;
        while (!todo_.empty() && failure_.empty()) {
            state const now = todo_.back();
            todo_.pop_back();
            is_finished |= now.popped == messages;
            produce(now);
            arrive(now);
            consume(now);
        }
        if (failure_.empty() && !is_finished)
            failure_ = "no interleaving ends";
        return failure_;
    }
    [[nodiscard]] std::size_t states() const { return seen_.size(); }

private:
    void add(state const& next) {
        if (seen_.insert(next).second)
            todo_.push_back(next);
    }

    void put(state& to, unsigned line, bool is_payload, bool is_commit) const {
        to.under_way.insert({to.epoch, to.pushed % slots, line, is_commit, is_payload, to.pushed});
    }

    void produce(state next) {
        if (next.pushed == messages)
            return;
        if (next.step == 0) {
            if (rules_.waits_for_credit && next.pushed - next.credit >= int(slots))
                return;
            if (next.under_way.size() > 2 * lines)
                return; // buffers are finite
        }
        if (rules_.line_is_one_store) {
            put(next, next.step, true, true);
            if (++next.step == lines) {
                next.step = 0;
                ++next.pushed;
            }
            return add(next);
        }
        if (next.step < lines) {
            put(next, next.step, true, false);
        } else if (next.step == lines) {
            if (rules_.fence_before_commit)
                ++next.epoch;
        } else {
            unsigned const line = next.step - lines - 1u;
            if (rules_.each_line_commits || line == lines - 1)
                put(next, line, false, true);
        }
        if (++next.step == 2 * lines + 1) {
            next.step = 0;
            ++next.pushed;
        }
        add(next);
    }

    void arrive(state const& now) {
        for (auto each = now.under_way.begin(); each != now.under_way.end(); ++each) {
            if (each->epoch != now.under_way.begin()->epoch)
                break;
            // Two stores to one place arrive in their order.
            bool const is_first = std::none_of(
                now.under_way.begin(), each, [&](store const& before) {
                    return before.slot == each->slot && before.line == each->line &&
                        before.is_commit == each->is_commit && before.number < each->number;
                });
            if (!is_first)
                continue;
            state next = now;
            if (each->is_payload)
                next.payload[each->slot][each->line] = std::uint8_t(each->number + 1);
            if (each->is_commit)
                next.commit[each->slot][each->line] = std::uint8_t(each->number + 1);
            next.under_way.erase(next.under_way.find(*each));
            if (next.under_way.empty())
                next.epoch = 0; // the same as any other
            add(next);
        }
        if (now.credit != now.returned) {
            state next = now;
            next.credit = now.returned;
            add(next);
        }
    }

    [[nodiscard]] bool is_committed(state const& now, unsigned line) const {
        if (!rules_.each_line_commits && line != lines - 1)
            return true;
        unsigned const found = now.commit[now.popped % slots][line];
        return rules_.commit_is_a_number ? found == now.popped + 1u : found != 0;
    }

    void consume(state next) {
        if (next.popped == messages)
            return;
        unsigned const slot = next.popped % slots;
        // Steps: the commit words, the payload's lines, the credit. Or the payload first.
        unsigned const first = rules_.commit_before_payload ? 0 : lines;
        unsigned const at = (next.look + first) % (2 * lines);
        if (next.look == 2 * lines) {
            if (rules_.credit_after_payload)
                next.returned = std::uint8_t(next.popped + 1);
            for (unsigned line = 0; line < lines; ++line)
                if (next.read[line] != next.popped + 1)
                    failure_ = "message " + std::to_string(next.popped) + " has line " +
                        std::to_string(line) + " of " + std::to_string(next.read[line] - 1);
            ++next.popped;
            next.look = 0;
            next.read = {};
            return add(next);
        }
        if (at < lines) {
            if (!is_committed(next, at)) { // from the beginning
                next.look = 0;
                next.read = {};
                return add(next);
            }
            if (at == lines - 1 && !rules_.credit_after_payload)
                next.returned = std::uint8_t(next.popped + 1);
        } else {
            next.read[at - lines] = next.payload[slot][at - lines];
        }
        ++next.look;
        add(next);
    }

    rules rules_;
    std::set<state> seen_;
    std::vector<state> todo_;
    std::string failure_;
};

TEST(ring_model_test, no_interleaving_tears_or_loses_a_message) {
    for (bool const line_is_one_store : {false, true}) {
        rules all;
        all.line_is_one_store = line_is_one_store;
        explorer model(all);
        EXPECT_EQ(model.run(), "");
        EXPECT_GT(model.states(), 1000u) << "it goes through all of them";
    }
}

TEST(ring_model_test, each_rule_is_needed) {
    auto const without = [](bool rules::*which) {
        rules some;
        some.*which = false;
        return explorer(some).run();
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
    EXPECT_NE(explorer(lines_alone).run(), "");
}

} // namespace
