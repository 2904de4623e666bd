// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

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

TEST(sim, refuses_what_the_simulated_gpu_does_not_understand) {
    for (auto const& [options, said] : std::initializer_list<std::pair<char const*, char const*>>{
             {"--fail nonsense", "BARMAP_SIM_FAIL=nonsense"},
             {"--fail cuNoSuchCall:2", "cuNoSuchCall"},
             {"--driver 999", "BARMAP_SIM_DRIVER=999: must be 535, 550, 570, 580 or 610"},
             {"--devices 99", "--devices"},
             {"--memory foo", "--memory"},
             {"--bar1 0", "--bar1"}}) {
        outcome const run = barmap_without_gpu(std::string("sim ") + options + " -- echo started");
        EXPECT_EQ(run.exit_code, 2) << options;
        EXPECT_NE(run.err.find(said), std::string::npos) << options << ": " << run.err;
        EXPECT_EQ(run.out.find("started"), std::string::npos) << options;
    }
}

TEST(sim, a_small_bar1_limits_what_is_mapped) {
    outcome const small =
        barmap_without_gpu("sim --bar1 4M -- barmap lat --backend dmabuf --sizes 8M --budget 0.01");
    EXPECT_EQ(small.exit_code, 3) << small.err;
    EXPECT_NE(small.err.find("too little BAR1 aperture is free"), std::string::npos) << small.err;
    EXPECT_NE(small.err.find("Resizable BAR"), std::string::npos) << small.err;
    outcome const enough = barmap_without_gpu(
        "sim --bar1 64M -- barmap lat --backend dmabuf --sizes 8M --budget 0.01");
    EXPECT_EQ(enough.exit_code, 0) << enough.err;
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
        barmap_without_gpu("sim --fail cuMemHostAlloc:2 -- barmap demo --sizes 8 --budget 0.01");
    EXPECT_EQ(run.exit_code, 3) << run.err;
    EXPECT_NE(run.err.find("pinned host memory"), std::string::npos) << run.err;
}

} // namespace
} // namespace barmap::test
