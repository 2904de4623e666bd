// SPDX-License-Identifier: MIT
#include "interleavings.hpp"

#include <gtest/gtest.h>

/// The protocol of mailboxes (include/barmap/mailbox.hpp, gpu/mailbox.cuh) as a model, as
/// ring_model_test has that of rings (O44).
namespace barmap::model {
namespace {

constexpr unsigned lines = 2, most_slots = 4, new_versions = 6;

/// How values are written and read.
struct layout {
    bool lines_are_whole = false; ///< MOVDIR64B: a line and its commit word arrive together
    bool slot_is_whole = false;   ///< and all of the slot
    bool reads_pairs = false;     ///< a word with its commit word by one load
    bool one_commit = false;      ///< the last word, for all lines
    bool is_in_order = false;     ///< coherent memory: stores arrive as they were issued
};

constexpr layout to_gpu_by_words{}, to_gpu_by_lines{.lines_are_whole = true},
    pairs_by_words{.reads_pairs = true}, pairs_by_line{.slot_is_whole = true, .reads_pairs = true},
    to_cpu{.one_commit = true}, to_cpu_by_pair{.slot_is_whole = true, .one_commit = true},
    coherent{.is_in_order = true};

/// What may be left out.
struct rules {
    bool fence_before_commit = true;
    bool fence_between_versions = true;
    bool commit_before_payload = true; ///< the reader looks at the former first
    bool each_line_commits = true;
    bool commit_is_a_number = true; ///< or else only whether there is a value
    bool only_newer = true;
    bool looks_behind = true; ///< at the slot of the last version before the next in this
    bool looks_behind_afterwards = true; ///< and a fence keeps that so
    unsigned slots = most_slots;
};

struct state {
    /// Of each slot and line: the version whose payload is there, and the commit word.
    std::array<std::uint8_t, most_slots * lines * 2> memory{};
    posted_stores<6, lines * 2> under_way;
    std::uint8_t written = 0, step = 0; ///< the version, and what comes next of it
    // The reader: the last version, the slots that it has looked at, and what it has read of which.
    std::uint8_t version = 0, looked = 0, newest = 0, done = 0;
    std::array<std::uint8_t, lines> read{};
    // What it must find: a version that had arrived when it began, and whether that was all.
    std::uint8_t there = 0, is_all = 0;
};

class mailbox {
public:
    mailbox(layout how, rules which) : how_(how), rules_(which) {}

    std::string run() {
        state first;
        first.written = first.version = first_version();
        for (unsigned version = 1; version <= first_version(); ++version)
            for (unsigned line = 0; line < lines; ++line)
                first.memory[payload(version, line)] = first.memory[payload(version, line) + 1] =
                    std::uint8_t(version);
        return all_.run(
            first,
            [this](state const& now, interleavings<state>&) {
                write(now);
                let_arrive(now, &state::under_way, &state::memory, all_);
                read(now);
            },
            [this](state const& now) { return now.version == last_version(); });
    }
    [[nodiscard]] std::size_t states() const { return all_.states(); }

private:
    [[nodiscard]] std::uint8_t first_version() const { return std::uint8_t(rules_.slots); }
    [[nodiscard]] std::uint8_t last_version() const {
        return std::uint8_t(first_version() + new_versions);
    }
    [[nodiscard]] unsigned payload(unsigned version, unsigned line) const {
        return (version % rules_.slots * lines + line) * 2;
    }
    [[nodiscard]] unsigned commit_line() const { return how_.one_commit ? lines - 1 : 0; }
    [[nodiscard]] unsigned commit(unsigned version) const {
        return payload(version, commit_line()) + 1;
    }

    void write(state next) {
        if (next.written == last_version() || !next.under_way.has_room_for(1))
            return;
        unsigned const version = next.written + 1u;
        auto const store = [&](unsigned at, std::initializer_list<unsigned> values) {
            next.under_way.store(at, values);
            if (how_.is_in_order)
                next.under_way.fence();
        };
        bool is_last = false;
        if (how_.slot_is_whole) {
            store(payload(version, 0), {version, version, version, version});
            is_last = true;
        } else if (how_.lines_are_whole) {
            store(payload(version, next.step), {version, version});
            is_last = next.step == lines - 1;
        } else if (next.step < lines) {
            store(payload(version, next.step), {version});
            if (next.step == lines - 1 && rules_.fence_before_commit)
                next.under_way.fence();
        } else {
            unsigned const line = how_.one_commit ? lines - 1 : next.step - lines;
            store(payload(version, line) + 1, {version});
            is_last = line == lines - 1;
        }
        ++next.step;
        if (is_last) {
            if (rules_.fence_between_versions)
                next.under_way.fence();
            next.step = 0;
            ++next.written;
        }
        all_.add(next);
    }

    [[nodiscard]] bool has_arrived(state const& now, unsigned version) const {
        for (unsigned line = 0; line < lines; ++line)
            if (now.memory[payload(version, line)] != version ||
                (!(how_.one_commit && line != commit_line()) &&
                 now.memory[payload(version, line) + 1] != version))
                return false;
        return true;
    }

    void begin(state& now) const {
        now.looked = now.done = 0;
        now.read = {};
        now.newest = now.version;
        now.is_all = now.written == last_version() && now.under_way.is_empty();
        now.there = now.version;
        for (unsigned version = now.written + 1u; version > now.version; --version)
            if (has_arrived(now, version)) {
                now.there = std::uint8_t(version);
                return;
            }
    }
    void end(state next, bool has_read) {
        if (!has_read && next.is_all && next.version != last_version())
            all_.fail("the last version is missed");
        if (has_read) {
            for (unsigned line = 0; line < lines; ++line)
                if (next.read[line] != next.newest)
                    all_.fail("version " + std::to_string(next.newest) + " has a line of " +
                              std::to_string(next.read[line]));
            if (next.newest <= next.version)
                all_.fail("versions go back");
            if (next.newest < next.there)
                all_.fail("a newer version was there");
            next.version = next.newest;
        }
        next.looked = next.done = next.newest = next.there = next.is_all = 0;
        next.read = {};
        all_.add(next);
    }

    void read(state next) {
        if (next.version == last_version())
            return;
        if (next.looked == 0)
            begin(next);
        if (next.looked < rules_.slots) {
            std::uint8_t const found = next.memory[commit(next.looked)];
            if (rules_.only_newer ? found > next.newest : found != next.version)
                next.newest = found;
            if (++next.looked == rules_.slots && next.newest == next.version)
                return end(next, false);
            return all_.add(next);
        }
        // In any order, as far as nothing forbids it: commit words, payload, the slot behind.
        constexpr unsigned commits = (1u << lines) - 1, payloads = commits << lines,
                           behind = 1u << 2 * lines;
        if (next.done == 0) {
            if (how_.one_commit || how_.reads_pairs)
                next.done |= commits; // of the slot's one, or with the payload
            if (!rules_.looks_behind)
                next.done |= behind;
        }
        for (unsigned line = 0; line < lines; ++line) {
            if ((next.done & 1u << line) == 0)
                look(next, 1u << line, is_committed(next, line));
            bool const may_read = !rules_.commit_before_payload || (next.done & commits) == commits;
            if (may_read && (next.done & 1u << (lines + line)) == 0) {
                state after = next;
                after.read[line] = next.memory[payload(next.newest, line)];
                look(after, 1u << (lines + line), !how_.reads_pairs || is_committed(next, line));
            }
        }
        if ((next.done & behind) == 0 &&
            (!rules_.looks_behind_afterwards || (next.done & payloads) == payloads)) {
            unsigned const last = next.newest + rules_.slots - 1;
            look(next, behind, next.memory[commit(last)] < last);
        }
    }
    void look(state next, unsigned what, bool is_right) {
        constexpr unsigned everything = (1u << (2 * lines + 1)) - 1;
        next.done = std::uint8_t(next.done | what);
        if (!is_right || next.done == everything)
            return end(next, is_right);
        all_.add(next);
    }
    [[nodiscard]] bool is_committed(state const& now, unsigned line) const {
        if (!rules_.each_line_commits && line != 0)
            return true;
        unsigned const found = now.memory[payload(now.newest, line) + 1];
        return rules_.commit_is_a_number ? found == now.newest : found != 0;
    }

    layout how_;
    rules rules_;
    interleavings<state> all_;
};

TEST(mailbox_model_test, values_are_whole_and_newer_and_the_last_one_is_read) {
    for (layout const& how : {to_gpu_by_words, to_gpu_by_lines, pairs_by_words, pairs_by_line,
                              to_cpu, to_cpu_by_pair, coherent}) {
        mailbox model(how, {});
        EXPECT_EQ(model.run(), "");
        EXPECT_GT(model.states(), 1000u) << "it goes through all of them";
    }
}

std::string without(bool rules::*which, layout const& how) {
    rules some;
    some.*which = false;
    return mailbox(how, some).run();
}

TEST(mailbox_model_test, each_rule_is_needed) {
    for (layout const& how : {to_gpu_by_words, pairs_by_words, to_cpu})
        EXPECT_NE(without(&rules::fence_before_commit, how), "");
    for (layout const& how :
         {to_gpu_by_words, to_gpu_by_lines, pairs_by_words, to_cpu, to_cpu_by_pair}) {
        EXPECT_NE(without(&rules::fence_between_versions, how), "");
        EXPECT_NE(without(&rules::looks_behind, how), "");
        EXPECT_NE(without(&rules::looks_behind_afterwards, how), "");
    }
    EXPECT_NE(without(&rules::looks_behind, coherent), "");
    EXPECT_NE(without(&rules::commit_before_payload, to_gpu_by_lines), "");
    EXPECT_NE(without(&rules::each_line_commits, to_gpu_by_lines), "");
    EXPECT_NE(without(&rules::commit_is_a_number, to_gpu_by_lines), "");
    EXPECT_NE(without(&rules::only_newer, to_gpu_by_words), "");
    EXPECT_NE(without(&rules::only_newer, to_cpu), "");
}

TEST(mailbox_model_test, what_some_layouts_could_do_without) {
    // Behind a fence, the commit word that says which version is the newest stands for all lines.
    EXPECT_EQ(without(&rules::commit_before_payload, to_gpu_by_words), "");
    EXPECT_EQ(without(&rules::each_line_commits, to_gpu_by_words), "");
    // A store of all pairs, each of which is read with its number, cannot be torn unseen.
    EXPECT_EQ(without(&rules::fence_between_versions, pairs_by_line), "");
    EXPECT_EQ(without(&rules::looks_behind, pairs_by_line), "");
    rules neither;
    neither.looks_behind = neither.commit_is_a_number = false;
    EXPECT_NE(mailbox(pairs_by_line, neither).run(), "");
}

// Two are enough to be right. With four a value is whole for three times as long.
TEST(mailbox_model_test, one_slot_is_not_enough) {
    auto const with = [](unsigned slots, layout const& how) {
        rules some;
        some.slots = slots;
        return mailbox(how, some).run();
    };
    for (layout const& how : {to_gpu_by_words, to_gpu_by_lines, to_cpu}) {
        EXPECT_EQ(with(2, how), "");
        EXPECT_EQ(with(1, how), "the last version is missed");
    }
}

} // namespace
} // namespace barmap::model
