// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <gtest/gtest.h>

namespace barmap::test {
namespace {

/// Every measured row has its quantiles in order and says how it was sampled.
void expect_times(nlohmann::json const& found) {
    ASSERT_FALSE(found.empty());
    for (auto const& row : found) {
        EXPECT_LE(row.at("min_ns"), row.at("p50_ns"));
        EXPECT_LE(row.at("p50_ns"), row.at("p99_ns"));
        EXPECT_GE(row.at("samples"), 1);
        EXPECT_GE(row.at("operations_per_sample"), 1);
    }
}

TEST(demo, says_first_that_the_gpu_is_simulated) {
    outcome const run = barmap("demo --sizes 8,4K --budget 0.01");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out.rfind("simulated GPU", 0), 0u) << run.out;
    EXPECT_NE(run.out.find("verified all"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("\nOK: "), std::string::npos) << run.out;
}

TEST(demo, claims_no_speed_of_a_simulated_gpu) {
    outcome const run = barmap("demo --sizes 8,4K --budget 0.01");
    for (char const* claim : {"GB/s", "faster", "cuMemcpy us"})
        EXPECT_EQ(run.out.find(claim), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("simulated GPU: not a benchmark"), std::string::npos) << run.out;
}

TEST(demo, measures_beside_both_kinds_of_cumemcpy) {
    outcome const run = barmap("demo --sizes 64 --budget 0.01 --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    for (char const* method : {"auto", "cuMemcpy pageable", "cuMemcpy pinned"}) {
        EXPECT_EQ(rows(run, "method", method).size(), 2u) << method;
        expect_times(rows(run, "method", method));
    }
    EXPECT_EQ(rows(run, "measurement", "verification")[0].at("passed"), true);
}

TEST(lat, compares_every_supported_routine) {
    outcome const run = barmap("lat --compare --sizes 1,64,8K --budget 0.02 --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    outcome const info = barmap("info --json");
    for (auto const& routine : rows(info, "kind", "copy_routine")) {
        std::size_t const expected = routine.at("supported") == true ? 6 : 0;
        EXPECT_EQ(rows(run, "method", routine.at("name")).size(), expected) << routine;
    }
    expect_times(rows(run, "measurement", "copy"));
    auto const choices = rows(run, "measurement", "choice");
    ASSERT_EQ(choices.size(), 6u);
    for (auto const& choice : choices)
        EXPECT_GT(choice.at("auto_over_best"), 0.0);
}

TEST(lat, measures_fresh_reads_and_posts) {
    outcome const run = barmap("lat --sizes 8 --iterations 10 --budget 0.02 --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(rows(run, "measurement", "read8").size(), 2u);
    EXPECT_EQ(rows(run, "measurement", "post").size(), 4u);
    EXPECT_EQ(rows(run, "measurement", "copy")[0].at("samples"), 10);
}

class memory_option : public testing::TestWithParam<char const*> {};

TEST_P(memory_option, is_mapped) {
    outcome const run =
        barmap(std::string("lat --sizes 64 --budget 0.01 --json --memory ") + GetParam());
    EXPECT_EQ(run.exit_code, 0) << run.err;
}

INSTANTIATE_TEST_SUITE_P(every, memory_option, testing::Values("device", "vmm", "vmm5"),
                         [](auto const& info) { return std::string(info.param); });

TEST(lat, forces_a_routine) {
    outcome const run = barmap("lat --sizes 64 --budget 0.01 --routine portable --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(rows(run, "measurement", "copy")[0].at("routine"), "portable");
}

TEST(bw, shares_a_transfer_among_threads) {
    outcome const run = barmap("bw --threads 3 --sizes 1,100,1M --budget 0.02 --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(rows(run, "threads", 3).size(), 6u);
    expect_times(rows(run, "measurement", "bandwidth"));
}

TEST(api, measures_every_call_and_finds_no_leak) {
    outcome const run = barmap("api --max 256K --budget 0.02 --cycles 50 --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    for (char const* call : {"pin", "map", "pin+map", "unmap", "unpin"})
        EXPECT_EQ(rows(run, "call", call).size(), 3u) << call;
    EXPECT_EQ(rows(run, "measurement", "cycles")[0].at("leak"), false);
}

TEST(pingpong, plays_every_variant) {
    outcome const run = barmap("pingpong --iterations 200 --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    auto const games = rows(run, "measurement", "pingpong");
    EXPECT_EQ(games.size(), 4u);
    for (auto const& game : games)
        EXPECT_EQ(game.at("samples"), 200);
}

TEST(fresh, no_routine_goes_back) {
    outcome const run = barmap("fresh --iterations 5000 --every-routine --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    for (auto const& row : rows(run, "measurement", "fresh")) {
        EXPECT_EQ(row.at("non_monotonic"), 0);
        EXPECT_EQ(row.at("caught_up"), true);
    }
    EXPECT_EQ(rows(run, "routine", "auto").size(), 8u);
}

TEST(fresh, runs_its_demonstration) {
    // The simulated GPU's memory is cached, where such loads are coherent: here it finds nothing.
    outcome const run = barmap("fresh --iterations 1000 --demonstrate-stale --sizes 64 --json");
    EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 2) << run.out << run.err;
}

TEST(stress, verifies_every_byte) {
    outcome const run = barmap(
        "stress --threads 3 --iterations 500 --region 64K --pieces 2000 --pairs 200 --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const threads = rows(run, "measurement", "stress");
    EXPECT_EQ(threads.size(), 3u);
    for (auto const& thread : threads)
        EXPECT_EQ(thread.at("operations"), 500);
}

TEST(stress, one_thread_that_fails_is_a_failure) {
    outcome const run =
        barmap("stress --threads 2 --iterations 1000 --region 4K --pieces 0 --pairs 0 --json",
               "BARMAP_SIM_FAIL=cuMemGetHandleForAddressRange:999:20");
    EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
    auto const threads = rows(run, "measurement", "stress");
    ASSERT_EQ(threads.size(), 2u);
    EXPECT_NE(threads[0].at("passed"), threads[1].at("passed")) << run.out;
}

} // namespace
} // namespace barmap::test
