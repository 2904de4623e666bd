// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <gtest/gtest.h>

namespace barmap::test {
namespace {

TEST(sim, runs_this_program_on_the_simulated_gpu) {
    outcome const run = barmap_without_gpu("sim -- barmap info --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.json().at("machine").at("simulated"), true);
}

TEST(sim, passes_its_options_on) {
    outcome const run =
        barmap_without_gpu("sim --devices 2 --driver 580 --memory 1G -- barmap info --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(rows(run, "kind", "gpu").size(), 2u);
    EXPECT_EQ(run.json().at("machine").at("driver"), "13.0");
}

TEST(sim, puts_the_simulated_driver_first) {
    outcome const run = barmap_without_gpu("sim -- sh -c 'echo $BARMAP_SIM $LD_LIBRARY_PATH'");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out.rfind("1 /", 0), 0u) << run.out;
    EXPECT_NE(run.out.find("barmap-sim"), std::string::npos) << run.out;
}

TEST(sim, exits_as_its_program_does) {
    EXPECT_EQ(barmap_without_gpu("sim -- sh -c 'exit 7'").exit_code, 7);
}

TEST(sim, a_program_that_cannot_be_started_exits_127) {
    outcome const run = barmap_without_gpu("sim -- /no/such/program");
    EXPECT_EQ(run.exit_code, 127);
    EXPECT_NE(run.err.find("/no/such/program"), std::string::npos) << run.err;
}

TEST(sim, makes_a_driver_call_fail) {
    outcome const run =
        barmap_without_gpu("sim --fail cuMemHostAlloc:2 -- barmap lat --sizes 8 --budget 0.01");
    EXPECT_EQ(run.exit_code, 3) << run.err;
    EXPECT_NE(run.err.find("pinned host memory"), std::string::npos) << run.err;
}

} // namespace
} // namespace barmap::test
