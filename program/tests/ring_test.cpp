// SPDX-License-Identifier: MIT
#include "program.hpp"
#include "ring/ring_bench.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace barmap::test {
namespace {

void expect_passed(nlohmann::json const& found) {
    ASSERT_FALSE(found.empty());
    for (auto const& row : found) {
        EXPECT_EQ(row.at("passed"), true) << row;
        for (char const* wrong : {"lost", "doubled", "torn", "out_of_order"})
            EXPECT_EQ(row.value(wrong, 0), 0) << row;
        EXPECT_EQ(row.value("pushed", 0), row.value("popped", 0)) << row;
    }
}

void expect_quantiles_in_order(nlohmann::json const& row) {
    double before = 0;
    for (char const* name : {"min_ns", "p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "max_ns"}) {
        EXPECT_GE(row.at(name).get<double>(), before) << name << row;
        before = row.at(name);
    }
}

using namespace barmap::tool;

template <unsigned Bytes>
ring_findings findings_of(sealed_message<Bytes> const& message, std::uint64_t expected) {
    ring_findings found{};
    inspect(message, expected, found);
    EXPECT_EQ(found.count, 1u);
    EXPECT_EQ(found.checksum, sum_of(message));
    return found;
}

template <unsigned Bytes>
void expect_judged(std::uint64_t number) {
    auto const message = make_sealed<Bytes>(number);
    ring_findings const right = findings_of(message, number);
    EXPECT_EQ(right.torn + right.doubled + right.out_of_order, 0u) << Bytes;
    EXPECT_EQ(findings_of(message, number + 1).doubled, 1u) << Bytes;
    EXPECT_EQ(findings_of(message, number - 1).out_of_order, 1u) << Bytes;
    for (unsigned word = 0; word < Bytes / 8; ++word) {
        // Halves of two messages, and a word of another one.
        auto torn = message;
        torn.words[word] ^= 0xffffffff;
        EXPECT_EQ(findings_of(torn, number).torn, 1u) << Bytes << ' ' << word;
        torn.words[word] = make_sealed<Bytes>(number - 64).words[word];
        ring_findings const old = findings_of(torn, number);
        EXPECT_EQ(Bytes == 8 ? old.doubled : old.torn, 1u) << Bytes << ' ' << word;
    }
}

TEST(ring_judge, finds_what_is_wrong_with_a_message) {
    for (std::uint64_t const number :
         {std::uint64_t{0}, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
        expect_judged<8>(number);
        expect_judged<56>(number);
        expect_judged<224>(number);
    }
}

TEST(ring_judge, every_fault_is_a_failure) {
    ring_result right;
    right.pushed = right.read.count = 9;
    right.checksum = true;
    EXPECT_TRUE(right.good());
    EXPECT_EQ(verdict(right), "passed");
    auto const expect_failure = [&](auto const& change, char const* says) {
        ring_result wrong = right;
        change(wrong);
        nlohmann::ordered_json row;
        put(row, wrong);
        EXPECT_EQ(row.at("passed"), false) << says;
        EXPECT_NE(verdict(wrong).find(says), std::string::npos) << verdict(wrong);
    };
    expect_failure([](ring_result& it) { it.read.count = 8; }, "1 lost");
    expect_failure([](ring_result& it) { it.read.count = 10; }, "FAILED");
    expect_failure([](ring_result& it) { it.read.doubled = 2; }, "2 doubled");
    expect_failure([](ring_result& it) { it.read.torn = 3; }, "3 torn");
    expect_failure([](ring_result& it) { it.read.out_of_order = 4; }, "4 out of order");
    expect_failure([](ring_result& it) { it.checksum = false; }, "wrong sum");
    expect_failure([](ring_result& it) { it.problem = "the kernel ended"; }, "the kernel ended");
}

TEST(kernels, that_a_build_lacks_are_named) {
    try {
        gpu_kernels const none(nullptr);
        FAIL() << "loaded";
    } catch (error const& refused) {
        EXPECT_EQ(refused.code(), errc::unsupported_operation);
        EXPECT_NE(std::string(refused.what()).find("install clang"), std::string::npos) << refused.what();
    }
}

TEST(ring, measures_every_size_and_side) {
    outcome const run = barmap("ring --only rates --messages 300 --slots 32 --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const rates = rows(run, "measurement", "rate");
    expect_passed(rates);
    std::set<std::tuple<std::string, int, int, std::string, int>> cases;
    for (auto const& row : rates) {
        cases.emplace(row.at("direction").get<std::string>(), row.at("slot_bytes").get<int>(),
                      row.at("message_bytes").get<int>(), row.at("gpu_side").get<std::string>(),
                      row.at("batch").get<int>());
        EXPECT_EQ(row.at("pushed"), 300);
        EXPECT_EQ(row.at("slots"), 32);
        EXPECT_EQ(row.at("load"), false);
        EXPECT_GT(row.at("messages_per_s"), 0.0);
        EXPECT_LT(row.at("messages"), 300) << "the kernel's start is not timed";
    }
    EXPECT_EQ(cases.size(), 25u);
    EXPECT_EQ(rates.size(), 25u);
    EXPECT_TRUE(cases.contains({"h2d", 64, 32, "warp", 1}));
    EXPECT_TRUE(cases.contains({"h2d", 256, 224, "warp", 16}));
    EXPECT_TRUE(cases.contains({"d2h", 16, 8, "many", 1}));
    auto const pushes = rows(run, "measurement", "push");
    expect_passed(pushes);
    EXPECT_EQ(pushes.size(), 8u) << "single ones and half of the ring";
    for (auto const& row : pushes) {
        expect_quantiles_in_order(row);
        EXPECT_EQ(row.at("operations_per_sample"), row.at("burst"));
    }
    EXPECT_EQ(run.json().at("machine").at("simulated"), true);
    EXPECT_FALSE(run.json().at("publication").get<std::string>().empty());
}

TEST(ring, measures_round_trips_beside_doorbells_and_the_clock) {
    outcome const run = barmap("ring --only trip --iterations 200 --slices 7 --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const found = rows(run, "measurement", "trip");
    expect_passed(found);
    ASSERT_EQ(found.size(), 8u);
    for (char const* way : {"ring", "bare", "doorbell", "clock"}) {
        auto const both = rows(run, "way", way);
        ASSERT_EQ(both.size(), 2u) << way;
        EXPECT_EQ(both[0].at("message_bytes"), 32);
        EXPECT_EQ(both[1].at("message_bytes"), 56);
        for (auto const& one : both) {
            EXPECT_EQ(one.at("samples"), 200);
            expect_quantiles_in_order(one);
        }
    }
    EXPECT_EQ(rows(run, "way", "doorbell")[0].at("p50_over_doorbell"), 1.0);
    EXPECT_EQ(rows(run, "way", "bare")[0].at("p50_over_bare"), 1.0);
    EXPECT_DOUBLE_EQ(rows(run, "way", "ring")[0].at("p50_over_doorbell").get<double>(),
                     rows(run, "way", "ring")[0].at("p50_ns").get<double>() /
                         rows(run, "way", "doorbell")[0].at("p50_ns").get<double>());
}

TEST(ring, measures_a_fifo) {
    outcome const run = barmap("ring --only fifo --iterations 100 --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const found = rows(run, "measurement", "fifo");
    expect_passed(found);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].at("samples"), 100);
    EXPECT_GT(found[0].at("ns_per_iteration"), 0.0);
    expect_quantiles_in_order(found[0]);
}

TEST(ring, measures_calls_of_one_thread_and_of_many) {
    outcome const run = barmap("ring --only calls --iterations 60 --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const found = rows(run, "measurement", "call");
    expect_passed(found);
    ASSERT_EQ(found.size(), 6u);
    for (auto const& row : found) {
        std::uint64_t const threads = row.at("threads");
        EXPECT_EQ(row.at("calls"), threads == 1 ? 60 : threads);
        EXPECT_GT(row.at("calls_per_s"), 0.0);
        expect_quantiles_in_order(row);
    }
}

TEST(ring, measures_steps) {
    outcome const run = barmap("ring --only steps --iterations 40 --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const found = rows(run, "measurement", "step");
    expect_passed(found);
    ASSERT_EQ(found.size(), 2u);
    for (auto const& row : found) {
        EXPECT_EQ(row.at("samples"), 40);
        expect_quantiles_in_order(row);
    }
    EXPECT_LE(found[0].at("p50_ns"), found[1].at("p50_ns")) << "a push is part of the trip";
}

TEST(ring, soaks_every_ring_and_half_of_it_under_load) {
    outcome const run = barmap("ring --only soak --messages 601 --slots 64 --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    expect_passed(rows(run, "measurement", "soak"));
    std::set<std::uint64_t> firsts, slots;
    for (auto const& row : rows(run, "part", "short")) {
        firsts.insert(row.at("first").get<std::uint64_t>());
        slots.insert(row.at("slots").get<std::uint64_t>());
    }
    EXPECT_EQ(slots, (std::set<std::uint64_t>{1, 2, 64}));
    EXPECT_EQ(firsts.size(), 3u) << "from 0, and over 2^32 and 2^64";
    for (char const* direction : {"h2d", "d2h"}) {
        std::uint64_t idle = 0, loaded = 0;
        for (auto const& row : rows(run, "part", "long"))
            if (row.at("direction") == direction)
                (row.at("load") == true ? loaded : idle) += row.at("popped").get<std::uint64_t>();
        EXPECT_EQ(idle, 301u) << direction;
        EXPECT_EQ(loaded, 300u) << direction;
    }
    auto const totals = rows(run, "measurement", "soak total");
    expect_passed(totals);
    EXPECT_EQ(totals.size(), 4u);
}

/// Ends at once after its last message, and that comes only when it has been looked for.
struct ring_that_ends {
    std::optional<int> try_pop() {
        bool const is_there = is_looked_for++ > 1 && !std::exchange(is_taken, true);
        return is_there ? std::optional(7) : std::nullopt;
    }
    static bool closed() { return true; }
    int is_looked_for = 0;
    bool is_taken = false;
};

TEST(ring, a_message_that_comes_with_the_end_is_not_missed) {
    ring_that_ends ring;
    EXPECT_EQ(wait_and_pop(ring, "a message"), 7);
    EXPECT_EQ(wait_and_pop(ring, "a message"), std::nullopt);
}

TEST(ring, measures_a_second_time_under_load) {
    outcome const run =
        barmap("ring --only rates,fifo --messages 50 --slots 4 --iterations 50 --load --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    for (char const* measurement : {"rate", "push", "fifo"}) {
        std::size_t loaded = 0;
        auto const found = rows(run, "measurement", measurement);
        for (auto const& row : found)
            loaded += row.at("load") == true ? 1 : 0;
        EXPECT_EQ(2 * loaded, found.size()) << measurement;
    }
}

TEST(ring, works_with_one_slot_and_one_message) {
    outcome const run = barmap("ring --messages 1 --slots 1 --iterations 1 --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    for (char const* measurement :
         {"rate", "push", "trip", "fifo", "call", "step", "soak", "soak total"})
        expect_passed(rows(run, "measurement", measurement));
}

TEST(ring, has_tables_of_text) {
    outcome const run = barmap("ring --messages 100 --slots 16 --iterations 50");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    for (char const* part : {"simulated GPU", "M messages/s", "try_push", "doorbell (pingpong)",
                             "us an  ", "call of the CPU", "a step of", "out of order", "passed"})
        EXPECT_NE(run.out.find(part), std::string::npos) << part << run.out;
}

TEST(ring, a_kernel_that_cannot_start_is_told) {
    outcome const run =
        barmap("ring --only fifo --iterations 10", "BARMAP_SIM_FAIL=cuLaunchKernel:719:1");
    EXPECT_EQ(run.exit_code, 3) << run.out;
    EXPECT_NE(run.err.find("launch a GPU kernel"), std::string::npos) << run.err;
}

} // namespace
} // namespace barmap::test
