// SPDX-License-Identifier: MIT
#include "interleavings.hpp"

#include <gtest/gtest.h>

/// The protocol of calls of the CPU (core/include/barmap/gpu/rpc.cuh, rpc.hpp) as a model, as
/// ring_model_test has that of rings (O45): two threads of a GPU call, may give up, and may be told
/// that nobody serves any more.
namespace barmap::model {
namespace {

constexpr unsigned slots = 2, first_number = 2, most_taken = 3;

/// What may be left out.
struct rules {
    bool fence_in_request = true; ///< before its commit word
    bool fence_in_reply = true;   ///< the same
    bool replace_next = true;     ///< only if it is still what the caller has seen
    bool looks_at_owner = true;
    bool owner_is_a_number = true; ///< or else only whether the slot is free
    bool leaves_slot = true;       ///< who gives up; or else it frees the slot
    bool waits_for_late_reply = true;
    bool reply_is_a_number = true; ///< or else only whether there is one
    bool frees_after_reading = true;
    bool takes_by_number = true; ///< the CPU; or else what it has not read
    bool fence_before_close = true;
    bool looks_after_close = true; ///< for a reply, once more
};

/// What is tried.
struct setting {
    unsigned callers = 2, calls = 2; ///< of each caller
    unsigned give_ups = 2;           ///< of all
    bool reply_is_one_store = false; ///< MOVDIR64B
    bool closes = false;             ///< the CPU, at some time
    /// How many calls after one without reply look at the owner; where that is not 0, one thread
    /// calls alone (gpu::caller).
    unsigned unsure = 0;
};

// Host memory: requests, each with a commit word. GPU memory: replies, each with one; closed.
constexpr unsigned request(unsigned number) {
    return number % slots * 2;
}
constexpr unsigned reply(unsigned number) {
    return number % slots * 2;
}
constexpr unsigned closed = slots * 2;

/// Words of owners.
constexpr unsigned free_for(unsigned number) {
    return number * 2;
}
constexpr unsigned left_by(unsigned number) {
    return number * 2 + 1;
}

enum class doing : std::uint8_t {
    looks_for_slot,
    replaces_next,
    requests,
    commits,
    waits,
    asks, ///< whether it is closed
    looks_again,
    reads,
    frees
};

struct caller {
    doing now = doing::looks_for_slot;
    std::uint8_t calls = 0, number = 0, read = 0, unsure = 0;
};

struct state {
    std::array<std::uint8_t, slots * 2> host{};
    std::array<std::uint8_t, slots * 2 + 1> gpu{};
    std::array<std::uint8_t, slots> owners{};
    std::uint8_t next = first_number;
    std::array<caller, 2> callers{};
    std::uint8_t give_ups = 0;
    posted_stores<4, 1> to_host;
    posted_stores<4, 2> to_gpu;
    // The CPU: the next call, its commit word was seen, and questions that it has not answered.
    std::uint8_t served = first_number, is_taking = 0, has_closed = 0, count_of_taken = 0;
    std::array<std::uint8_t, most_taken> taken{}, number{};
    /// By question, what has become of it.
    std::uint8_t seen = 0, answered = 0;
};

class calls {
public:
    calls(setting what, rules which) : what_(what), rules_(which) {}

    std::string run() {
        state first;
        for (unsigned number = first_number; number < first_number + slots; ++number) {
            first.host[request(number) + 1] = first.gpu[reply(number) + 1] =
                std::uint8_t(number - slots + 1);
            first.owners[number % slots] = std::uint8_t(free_for(number));
        }
        for (caller& each : first.callers)
            each.unsure = std::uint8_t(what_.unsure);
        return all_.run(
            first,
            [this](state const& now, interleavings<state>&) {
                for (unsigned i = 0; i < what_.callers; ++i)
                    call(now, i);
                serve(now);
                let_arrive(now, &state::to_host, &state::host, all_);
                let_arrive(now, &state::to_gpu, &state::gpu, all_);
            },
            [this](state const& now) {
                for (unsigned i = 0; i < what_.callers; ++i)
                    if (now.callers[i].calls != what_.calls)
                        return false;
                return now.has_closed || now.served == now.next;
            });
    }
    [[nodiscard]] std::size_t states() const { return all_.states(); }

private:
    [[nodiscard]] unsigned question(unsigned which, caller const& of) const {
        return which * what_.calls + of.calls + 1;
    }

    [[nodiscard]] bool may_use(state const& now, unsigned number) const {
        if (!rules_.looks_at_owner)
            return true;
        unsigned const found = now.owners[number % slots], before = number - slots;
        if (!rules_.owner_is_a_number && found % 2 == 0)
            return true;
        return found == free_for(number) ||
               (found == left_by(before) &&
                (!rules_.waits_for_late_reply || now.gpu[reply(before) + 1] == before + 1));
    }
    static void end_call(caller& of) {
        of = {.calls = std::uint8_t(of.calls + 1), .unsure = of.unsure};
    }
    void free(state& next, caller const& of) const {
        next.owners[of.number % slots] = std::uint8_t(free_for(of.number + slots));
    }
    void expect_no_answer(state const& now, unsigned asked) {
        if (now.answered & 1u << asked)
            all_.fail("a call was answered, and told that nobody serves");
    }
    /// A call that has a number ends without an answer.
    void leave(state next, unsigned which) {
        caller& of = next.callers[which];
        if (rules_.leaves_slot)
            next.owners[of.number % slots] = std::uint8_t(left_by(of.number));
        else
            free(next, of);
        end_call(of);
        of.unsure = std::uint8_t(what_.unsure);
        all_.add(next);
    }

    void call(state const& now, unsigned which) {
        if (now.callers[which].calls == what_.calls)
            return;
        state next = now;
        caller& of = next.callers[which];
        unsigned const asked = question(which, of);
        bool const is_closed = now.gpu[closed] != 0;
        switch (of.now) {
        case doing::looks_for_slot: {
            bool const is_sure = what_.unsure != 0 && of.unsure == 0;
            if (is_sure || may_use(now, now.next)) {
                of.number = now.next;
                of.now = doing::replaces_next;
                if (what_.unsure != 0 && !is_sure)
                    --of.unsure;
                return all_.add(next);
            }
            if (is_closed) {
                end_call(of);
                all_.add(next);
            }
            return;
        }
        case doing::replaces_next:
            if (rules_.replace_next && next.next != of.number) {
                of.now = doing::looks_for_slot;
                of.number = 0;
            } else {
                next.next = std::uint8_t(of.number + 1);
                of.now = doing::requests;
            }
            return all_.add(next);
        case doing::requests:
        case doing::commits:
            if (!next.to_host.has_room_for(1))
                return;
            if (of.now == doing::requests) {
                next.to_host.store(request(of.number), {asked});
                if (rules_.fence_in_request)
                    next.to_host.fence();
                of.now = doing::commits;
            } else {
                next.to_host.store(request(of.number) + 1, {of.number + 1u});
                of.now = doing::waits;
            }
            return all_.add(next);
        case doing::waits:
        case doing::looks_again: {
            unsigned const found = now.gpu[reply(of.number) + 1];
            if (rules_.reply_is_a_number ? found == of.number + 1u : found != 0) {
                if (!rules_.frees_after_reading)
                    free(next, of);
                of.now = doing::reads;
                return all_.add(next);
            }
            if (of.now == doing::looks_again) {
                expect_no_answer(now, asked);
                return leave(now, which);
            }
            if (what_.closes) {
                of.now = doing::asks;
                all_.add(next);
            }
            if (now.give_ups != what_.give_ups) {
                state without = now;
                ++without.give_ups;
                leave(without, which);
            }
            return;
        }
        case doing::asks:
            if (is_closed && !rules_.looks_after_close) {
                expect_no_answer(now, asked);
                return leave(now, which);
            }
            of.now = is_closed ? doing::looks_again : doing::waits;
            return all_.add(next);
        case doing::reads:
            of.read = now.gpu[reply(of.number)];
            of.now = doing::frees;
            if (of.read != asked)
                all_.fail("question " + std::to_string(asked) + " gets the answer to " +
                          std::to_string(of.read));
            return all_.add(next);
        case doing::frees:
            if (rules_.frees_after_reading)
                free(next, of);
            end_call(of);
            return all_.add(next);
        }
    }

    void serve(state const& now) {
        if (now.has_closed)
            return;
        if (what_.closes && now.to_gpu.has_room_for(1)) {
            state next = now;
            next.has_closed = 1;
            if (rules_.fence_before_close)
                next.to_gpu.fence();
            next.to_gpu.store(closed, {1});
            all_.add(next);
        }
        take(now);
        for (unsigned i = 0; i < now.count_of_taken; ++i)
            answer(now, i);
    }
    void take(state next) {
        if (next.is_taking == 0) {
            unsigned const found = next.host[request(next.served) + 1];
            if (next.count_of_taken == most_taken ||
                (rules_.takes_by_number ? found != next.served + 1u : found == 0))
                return;
            next.is_taking = 1;
            return all_.add(next);
        }
        unsigned const asked = next.host[request(next.served)];
        if (asked == 0)
            all_.fail("a call has no question");
        if (next.seen & 1u << asked)
            all_.fail("question " + std::to_string(asked) + " is taken twice");
        next.seen = std::uint8_t(next.seen | 1u << asked);
        next.taken[next.count_of_taken] = std::uint8_t(asked);
        next.number[next.count_of_taken++] = next.served++;
        next.is_taking = 0;
        all_.add(next);
    }
    /// In any order.
    void answer(state next, unsigned which) {
        if (!next.to_gpu.has_room_for(2) || next.is_taking != 0)
            return;
        unsigned const number = next.number[which], asked = next.taken[which];
        next.to_gpu.fence();
        if (what_.reply_is_one_store) {
            next.to_gpu.store(reply(number), {asked, number + 1});
        } else {
            next.to_gpu.store(reply(number), {asked});
            if (rules_.fence_in_reply)
                next.to_gpu.fence();
            next.to_gpu.store(reply(number) + 1, {number + 1});
        }
        next.answered = std::uint8_t(next.answered | 1u << asked);
        for (auto* const each : {&next.taken, &next.number}) {
            std::copy(each->begin() + which + 1, each->end(), each->begin() + which);
            each->back() = 0;
        }
        --next.count_of_taken;
        all_.add(next);
    }

    setting what_;
    rules rules_;
    interleavings<state> all_;
};

TEST(call_model_test, each_call_gets_its_own_answer_once_or_none) {
    for (setting const& what :
         {setting{}, setting{.reply_is_one_store = true}, setting{.closes = true},
          setting{.calls = 3, .give_ups = 1}, setting{.callers = 1, .calls = 6, .unsure = slots}}) {
        calls model(what, {});
        EXPECT_EQ(model.run(), "");
        EXPECT_GT(model.states(), 1000u) << "it goes through all of them";
    }
}

std::string without(bool rules::*which, setting const& what = {}) {
    rules some;
    some.*which = false;
    return calls(what, some).run();
}

TEST(call_model_test, each_rule_is_needed) {
    EXPECT_NE(without(&rules::fence_in_request), "");
    EXPECT_NE(without(&rules::fence_in_reply), "");
    EXPECT_NE(without(&rules::replace_next), "");
    EXPECT_NE(without(&rules::looks_at_owner), "");
    EXPECT_NE(without(&rules::owner_is_a_number), "");
    EXPECT_NE(without(&rules::leaves_slot), "");
    EXPECT_NE(without(&rules::waits_for_late_reply), "");
    EXPECT_NE(without(&rules::reply_is_a_number), "");
    EXPECT_NE(without(&rules::frees_after_reading), "");
    EXPECT_NE(without(&rules::takes_by_number), "");
    EXPECT_NE(without(&rules::fence_before_close, {.closes = true}), "");
    EXPECT_NE(without(&rules::looks_after_close, {.closes = true}), "");
}

TEST(call_model_test, who_calls_alone_looks_at_each_slot_after_one_was_left) {
    for (unsigned const unsure : {slots - 1, slots})
        EXPECT_EQ(calls({.callers = 1, .calls = 6, .unsure = unsure}, {}).run() == "",
                  unsure == slots);
}

} // namespace
} // namespace barmap::model
