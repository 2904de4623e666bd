// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <gtest/gtest.h>

namespace barmap::test {
namespace {

TEST(check, passes_on_the_simulated_gpu) {
    outcome const run = barmap("check --max-size 16M --json");
    EXPECT_EQ(run.exit_code, 0) << run.out;
    EXPECT_EQ(rows(run, "result", "failed").size(), 0u);
    EXPECT_GT(rows(run, "result", "passed").size(), 10u);
    EXPECT_EQ(rows(run, "memory", "freed")[0].at("result"), "passed");
}

TEST(check, verifies_every_kind_that_dmabuf_imports) {
    outcome const run =
        barmap("check --max-size 16M --json --backend dmabuf", "BARMAP_SIM_DRIVER=610");
    EXPECT_EQ(run.exit_code, 0) << run.out;
    for (char const* kind :
         {"cuMemAlloc 8 MiB", "cuMemAlloc interior, odd", "cuMemCreate exportable",
          "cuMemCreate 5 chunks, odd", "cuMemAlloc 1 KiB neighbours", "written by a GPU kernel",
          "barmap allocate", "managed", "host"}) {
        auto const found = rows(run, "memory", kind);
        ASSERT_EQ(found.size(), 1u) << kind;
        EXPECT_EQ(found[0].at("result"), "passed") << found[0];
    }
}

TEST(check, tells_why_something_is_skipped) {
    outcome const run = barmap("check --max-size 16M --json", "BARMAP_SIM_DRIVER=580");
    for (auto const& row : rows(run, "result", "skipped"))
        EXPECT_FALSE(row.at("detail").get<std::string>().empty());
    EXPECT_EQ(rows(run, "backend", "dmabuf")[0].at("result"), "skipped") << run.out;
}

TEST(check, a_required_backend_must_not_be_skipped) {
    outcome const run = barmap("check --max-size 16M --require gdrdrv --json");
    EXPECT_EQ(run.exit_code, 1) << run.out;
    EXPECT_EQ(rows(run, "backend", "gdrdrv")[0].at("result"), "failed");
    EXPECT_NE(barmap("check --max-size 16M", "BARMAP_REQUIRE=gdrdrv").exit_code, 0);
}

TEST(check, maps_all_devices_at_once) {
    outcome const run = barmap("check --max-size 16M --all-devices --json --backend dmabuf",
                               "BARMAP_SIM_DRIVER=610 BARMAP_SIM_DEVICES=2");
    EXPECT_EQ(run.exit_code, 0) << run.out;
    for (char const* kind : {"device on 2 GPUs at once", "vmm on 2 GPUs at once",
                             "device on 2 GPUs at once, foreign"}) {
        auto const found = rows(run, "memory", kind);
        ASSERT_EQ(found.size(), 1u) << kind;
        EXPECT_EQ(found[0].at("result"), "passed") << found[0];
    }
}

TEST(check, a_failing_driver_is_a_failure) {
    // The copies that verify fail: nothing may pass silently.
    outcome const run = barmap("check --max-size 16M --backend dmabuf",
                               "BARMAP_SIM_DRIVER=610 BARMAP_SIM_FAIL=cuMemcpyHtoD:1:6");
    EXPECT_NE(run.exit_code, 0) << run.out << run.err;
}

} // namespace
} // namespace barmap::test
