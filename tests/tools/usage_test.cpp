// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <gtest/gtest.h>

namespace barmap::test {
namespace {

class subcommand : public testing::TestWithParam<char const*> {};

TEST_P(subcommand, has_help) {
    outcome const run = barmap(std::string(GetParam()) + " --help");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.out.find("Usage:"), std::string::npos);
}

TEST_P(subcommand, refuses_an_unknown_option) {
    outcome const run = barmap(std::string(GetParam()) + " --no-such-option");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find("--help"), std::string::npos) << run.err;
}

INSTANTIATE_TEST_SUITE_P(every, subcommand,
                         testing::Values("info", "demo", "check", "lat", "bw", "api", "pingpong",
                                         "fresh", "stress", "sim", "plot"),
                         [](auto const& info) { return std::string(info.param); });

TEST(usage, top_help_documents_the_exit_codes) {
    outcome const run = barmap("--help");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.out.find("Exit codes: 0"), std::string::npos);
}

TEST(usage, plot_without_python_says_what_is_missing) {
    outcome const run = barmap("plot a.json -o a.svg", "PATH=/nonexistent");
    EXPECT_EQ(run.exit_code, 127);
    EXPECT_NE(run.err.find("install Python"), std::string::npos) << run.err;
}

TEST(usage, a_subcommand_is_required) {
    EXPECT_EQ(barmap("").exit_code, 2);
}

TEST(usage, prints_its_version) {
    outcome const run = barmap("--version");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.out.find('.'), std::string::npos);
}

struct wrong_line {
    char const* arguments;
    char const* says; ///< a part of what it must say
};

class wrong : public testing::TestWithParam<wrong_line> {};

TEST_P(wrong, exits_2_and_says_what_to_do) {
    outcome const run = barmap(GetParam().arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find(GetParam().says), std::string::npos) << run.err;
    EXPECT_EQ(run.out, "");
}

INSTANTIATE_TEST_SUITE_P(every, wrong,
                         testing::Values(wrong_line{"lat --backend nonsense", "vulkan"},
                                         wrong_line{"lat --routine nonsense", "portable"},
                                         wrong_line{"lat --memory nonsense", "vmm5"},
                                         wrong_line{"lat --sizes 4Q", "--sizes"},
                                         wrong_line{"lat --sizes 0", "--sizes"},
                                         wrong_line{"lat --budget -1", "--budget"},
                                         wrong_line{"bw --threads 0", "--threads"},
                                         wrong_line{"lat --device -1", "--device"},
                                         wrong_line{"fresh --sizes 3", "powers of two"},
                                         wrong_line{"stress --region 1K", "4K"},
                                         wrong_line{"check --require nonsense", "the backends are"},
                                         wrong_line{"sim", "PROGRAM"}));

TEST(usage, an_output_file_that_cannot_be_written_is_told) {
    outcome const run = barmap("info --output /no/such/folder/file");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find("/no/such/folder/file"), std::string::npos) << run.err;
}

TEST(usage, a_gpu_that_is_not_there_exits_3) {
    outcome const run = barmap("lat --device 99 --sizes 8");
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_NE(run.err.find("GPU"), std::string::npos) << run.err;
}

} // namespace
} // namespace barmap::test
