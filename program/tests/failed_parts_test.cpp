// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <filesystem>
#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <vector>

/// What the program tells, where, and with which exit code, when a call of the driver fails in one
/// of a subcommand's parts.
namespace barmap::test {
namespace {

enum class told {
    as_a_result,  ///< on stdout and in the file of --output, with all other results
    as_a_refusal, ///< on stderr alone; no result is left
};

struct failed_part {
    char const* name;
    char const* line;
    char const* fails; ///< as BARMAP_SIM_FAIL has it
    int exit_code;
    told how;
    char const* says;
};
void PrintTo(failed_part const& which, std::ostream* out) {
    *out << which.name;
}

constexpr char const* launch = "cuLaunchKernel:719";
constexpr char const* second_launch = "cuLaunchKernel:719:2";
constexpr char const* cannot_launch = "cannot launch a GPU kernel: CUDA_ERROR_LAUNCH_FAILED";
constexpr char const* context = "cuDevicePrimaryCtxRetain:2";
constexpr char const* no_context =
    "cannot retain the primary CUDA context: CUDA_ERROR_OUT_OF_MEMORY";
constexpr char const* allocation = "cuMemAlloc:2";

class part : public testing::TestWithParam<failed_part> {};
INSTANTIATE_TEST_SUITE_P(
    each, part,
    testing::Values(failed_part{"info_context", "info", context, 0, told::as_a_result, no_context},
                    failed_part{"check_context", "check --max-size 64K", context, 3,
                                told::as_a_refusal, no_context},
                    failed_part{"check_kernel", "check --max-size 64K --backend dmabuf", launch, 1,
                                told::as_a_result, cannot_launch},
                    failed_part{"check_module", "check --max-size 64K --backend dmabuf",
                                "cuModuleLoadData:218", 0, told::as_a_result, "skipped"},
                    failed_part{"check_memory", "check --max-size 64K --backend dmabuf", allocation,
                                1, told::as_a_result, "CUDA_ERROR_OUT_OF_MEMORY"},
                    failed_part{"demo", "demo --sizes 8 --budget 0.01", context, 3,
                                told::as_a_refusal, no_context},
                    failed_part{"lat", "lat --sizes 8 --budget 0.01", context, 3,
                                told::as_a_refusal, no_context},
                    failed_part{"lat_memory", "lat --sizes 8 --budget 0.01", allocation, 3,
                                told::as_a_refusal, "CUDA_ERROR_OUT_OF_MEMORY"},
                    failed_part{"bw", "bw --sizes 8 --budget 0.01", context, 3, told::as_a_refusal,
                                no_context},
                    failed_part{"api", "api --max 64K --iterations 1", context, 3,
                                told::as_a_refusal, no_context},
                    failed_part{"batch", "batch --pool 64K --pieces 1 --iterations 1", context, 3,
                                told::as_a_refusal, no_context},
                    failed_part{"batch_method", "batch --pool 64K --pieces 1 --iterations 1",
                                launch, 1, told::as_a_result, cannot_launch},
                    failed_part{"pingpong", "pingpong --iterations 10", second_launch, 3,
                                told::as_a_refusal, cannot_launch},
                    failed_part{"ring", "ring --only fifo,calls --iterations 10", second_launch, 3,
                                told::as_a_refusal, cannot_launch},
                    failed_part{"fresh", "fresh --sizes 8,16 --iterations 100", second_launch, 3,
                                told::as_a_refusal, cannot_launch},
                    failed_part{"stress", "stress --threads 1 --iterations 10 --pieces 0 --pairs 0",
                                context, 3, told::as_a_refusal, no_context}),
    [](auto const& info) { return std::string(info.param.name); });

TEST_P(part, is_told_where_it_belongs) {
    failed_part const& which = GetParam();
    std::string const file = testing::TempDir() + "barmap-part-" + which.name + ".json";
    std::filesystem::remove(file);
    outcome const run = barmap(std::string(which.line) + " --json --output " + file,
                               std::string("BARMAP_SIM_FAIL=") + which.fails);
    EXPECT_EQ(run.exit_code, which.exit_code) << run.out << run.err;
    EXPECT_EQ(std::filesystem::exists(file), which.how == told::as_a_result);
    std::filesystem::remove(file);
    if (which.how == told::as_a_refusal) {
        EXPECT_EQ(run.out, "");
        EXPECT_EQ(run.err.find("barmap: "), 0u) << run.err;
        EXPECT_NE(run.err.find(which.says), std::string::npos) << run.err;
        EXPECT_EQ(run.err.find("barmap: ", 1), std::string::npos) << "told once: " << run.err;
    } else {
        EXPECT_NE(run.out.find(which.says), std::string::npos) << run.out;
        EXPECT_EQ(run.err, "");
    }
}

// A pipe or a terminal that is closed early is not the failure of a check.
TEST(parts, that_fails_outweighs_an_output_that_cannot_be_written) {
    for (char const* form : {" > /dev/full", " --json > /dev/full"}) {
        outcome const run = barmap(std::string("check --max-size 64K --backend dmabuf") + form,
                                   std::string("BARMAP_SIM_FAIL=") + launch);
        EXPECT_EQ(run.exit_code, 1) << run.err;
        EXPECT_NE(run.err.find("stdout"), std::string::npos) << run.err;
    }
}

// The run is lost, and not begun, if nobody can read it.
TEST(parts, whose_file_is_a_folder_is_a_wrong_argument) {
    for (char const* line : {"check --max-size 64K", "info", "lat --sizes 8 --budget 0.01"}) {
        outcome const run = barmap(std::string(line) + " --output " + testing::TempDir());
        EXPECT_EQ(run.exit_code, 2);
        EXPECT_EQ(run.out, "");
        EXPECT_EQ(run.err.find("barmap: cannot write "), 0u) << run.err;
        EXPECT_NE(run.err.find("give --output a file that can be written"), std::string::npos);
    }
}

// All bytes are written at the end, here to a file that takes numbers only, and that nothing
// removes.
TEST(parts, whose_file_takes_nothing_is_told) {
    outcome const run =
        barmap("check --max-size 64K --backend dmabuf --output /proc/self/oom_score_adj");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.err.find("barmap: cannot write /proc/self/oom_score_adj: "), 0u) << run.err;
}

} // namespace
} // namespace barmap::test
