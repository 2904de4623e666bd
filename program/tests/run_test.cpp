// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <gtest/gtest.h>

#include <string>

namespace barmap::test {
namespace {

std::string preload_of(outcome const& run) {
    return run.out.substr(0, run.out.find('\n'));
}

TEST(run, loads_the_library_first) {
    outcome const run =
        barmap("run -- sh -c 'echo $LD_PRELOAD; grep -c libbarmap-memcpy /proc/$$/maps'");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(preload_of(run).front(), '/');
    EXPECT_TRUE(preload_of(run).ends_with("/libbarmap-memcpy.so")) << run.out;
    EXPECT_EQ(run.err, "");
}

TEST(run, keeps_what_is_loaded_first_already) {
    outcome const run = barmap("run -- sh -c 'echo $LD_PRELOAD'", "LD_PRELOAD=libm.so.6");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(preload_of(run).ends_with("/libbarmap-memcpy.so:libm.so.6")) << run.out;
}

TEST(run, runs_on_the_simulated_gpu) {
    outcome const run = barmap_without_gpu("sim --devices 2 -- barmap run -- barmap info --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(rows(run, "kind", "gpu").size(), 2u);
}

// Behind the library barmap's own batches go by the engines that they are meant for.
TEST(run, measures_batches_as_without_it) {
    outcome const run = barmap("run -- barmap batch --json --sizes 512 --pieces 100 --budget 0.01 "
                               "--methods engine,batch",
                               "BARMAP_LOG=info");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_FALSE(rows(run, "method", "cuMemcpyBatchAsync").empty());
}

/// Runs a copy of the program that lies elsewhere.
outcome copied(std::string const& preparation) {
    return barmap("sim -- sh -c 'd=$(mktemp -d \"/tmp/a b.XXXXXX\"); mkdir \"$d/bin\" \"$d/lib\"; "
                  "cp " BARMAP_PROGRAM " \"$d/bin/barmap\"; cp " BARMAP_CORE " \"$d/lib\"; " +
                  preparation + "\"$d/bin/barmap\" run -- true; c=$?; rm -r \"$d\"; exit $c'");
}

TEST(run, without_the_library_no_program_is_started) {
    outcome const run = copied("");
    if (run.exit_code == 0)
        GTEST_SKIP() << "it is installed";
    EXPECT_EQ(run.exit_code, 127);
    EXPECT_NE(run.err.find("libbarmap-memcpy.so is in none of these directories: /tmp/a b."),
              std::string::npos)
        << run.err;
    EXPECT_NE(run.err.find("install the package libbarmap-memcpy,"), std::string::npos) << run.err;
}

TEST(run, refuses_a_path_that_no_loader_takes) {
    outcome const run = copied("touch \"$d/lib/libbarmap-memcpy.so\"; ");
    EXPECT_EQ(run.exit_code, 127);
    EXPECT_NE(run.err.find("LD_PRELOAD cannot hold /tmp/a b."), std::string::npos) << run.err;
}

TEST(run, exits_as_its_program_does) {
    EXPECT_EQ(barmap("run -- sh -c 'exit 7'").exit_code, 7);
}

TEST(run, a_program_that_cannot_be_started_exits_127) {
    outcome const run = barmap("run -- /no/such/program");
    EXPECT_EQ(run.exit_code, 127);
    EXPECT_NE(run.err.find("cannot start /no/such/program"), std::string::npos) << run.err;
}

} // namespace
} // namespace barmap::test
