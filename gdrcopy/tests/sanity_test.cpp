// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <gtest/gtest.h>

namespace barmap::test {
namespace {

bool has(std::string const& text, std::string const& part) {
    return text.find(part) != std::string::npos;
}

outcome sanity(std::string const& arguments, std::string const& environment = {}) {
    return barmap_named("gdrcopy_sanity", arguments, environment);
}

constexpr char const* every_name[] = {
    "attributes_sanity",
    "basic_child_thread_pins_buffer_cumemalloc",
    "basic_child_thread_pins_buffer_vmmalloc",
    "basic_cumemalloc",
    "basic_small_buffers_mapping",
    "basic_unaligned_mapping",
    "basic_v2_cumemalloc",
    "basic_v2_forcepci_cumemalloc",
    "basic_v2_forcepci_vmmalloc",
    "basic_v2_vmmalloc",
    "basic_vmmalloc",
    "basic_with_tokens",
    "data_validation_cumemalloc",
    "data_validation_mix_mappings_cumemalloc",
    "data_validation_v2_cumemalloc",
    "data_validation_v2_forcepci_cumemalloc",
    "data_validation_vmmalloc",
    "invalidation_access_after_free_cumemalloc",
    "invalidation_access_after_free_vmmalloc",
    "invalidation_access_after_gdr_close_cumemalloc",
    "invalidation_access_after_gdr_close_vmmalloc",
    "invalidation_fork_access_after_free_cumemalloc",
    "invalidation_fork_access_after_free_vmmalloc",
    "invalidation_fork_after_gdr_map_cumemalloc",
    "invalidation_fork_after_gdr_map_vmmalloc",
    "invalidation_fork_child_gdr_map_parent_cumemalloc",
    "invalidation_fork_child_gdr_map_parent_vmmalloc",
    "invalidation_fork_child_gdr_pin_parent_with_tokens",
    "invalidation_fork_map_and_free_cumemalloc",
    "invalidation_fork_map_and_free_vmmalloc",
    "invalidation_two_mappings_cumemalloc",
    "invalidation_two_mappings_vmmalloc",
    "invalidation_unix_sock_shared_fd_gdr_map_cumemalloc",
    "invalidation_unix_sock_shared_fd_gdr_map_vmmalloc",
    "invalidation_unix_sock_shared_fd_gdr_pin_buffer_cumemalloc",
    "invalidation_unix_sock_shared_fd_gdr_pin_buffer_vmmalloc",
};

TEST(gdrcopy_sanity, lists_the_known_tests) {
    std::string expected = "List of all available tests:\n";
    for (char const* name : every_name)
        expected += std::string("    ") + name + "\n";
    expected += "\nList of all available extended tests:\n    leakage_pin_pages_fork_cumemalloc\n";
    outcome const run = sanity("-l");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, expected);
}

TEST(gdrcopy_sanity, ends_without_failures) {
    outcome const run = sanity("-e");
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_TRUE(has(run.out, "Total: 37, Passed: 27, Failed: 0, Waived: 10\n")) << run.out;
    EXPECT_TRUE(has(run.out, "List of waived tests:\n    basic_v2_forcepci_cumemalloc ("))
        << run.out;
    EXPECT_FALSE(has(run.out, "failed")) << run.out;
}

TEST(gdrcopy_sanity, leaves_out_the_extended_tests) {
    // Without CUDA they all end at once; only the questions that need none are answered.
    outcome const run = sanity("", "BARMAP_SIM_FAIL=cuInit:100");
    EXPECT_TRUE(has(run.out, "Total: 36, Passed: 1, ")) << run.out;
}

TEST(gdrcopy_sanity, runs_the_tests_that_are_named) {
    outcome const run = sanity("-v -t basic_cumemalloc -t leakage_pin_pages_fork_cumemalloc");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(has(run.out, "Total: 2, Passed: 1, Failed: 0, Waived: 1\n")) << run.out;
    EXPECT_TRUE(has(run.err, "&&&& RUNNING basic_cumemalloc\n&&&& PASSED basic_cumemalloc\n"))
        << run.err;
    EXPECT_TRUE(has(run.err, "&&&& WAIVED leakage_pin_pages_fork_cumemalloc\n")) << run.err;
}

TEST(gdrcopy_sanity, is_silent_without_its_summary) {
    outcome const run = sanity("-s -t basic_cumemalloc");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out + run.err, "");
}

TEST(gdrcopy_sanity, tells_failures_and_goes_on) {
    outcome const run =
        sanity("-t basic_cumemalloc -t attributes_sanity", "BARMAP_SIM_FAIL=cuMemAlloc:2:1");
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_TRUE(has(run.out, "Total: 2, Passed: 1, Failed: 1, Waived: 0\n")) << run.out;
    EXPECT_TRUE(has(run.out, "List of failed tests:\n    basic_cumemalloc (")) << run.out;
    EXPECT_TRUE(has(run.err, "1 of 2 tests failed")) << run.err;
}

} // namespace
} // namespace barmap::test
