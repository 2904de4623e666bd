// SPDX-License-Identifier: MIT
#include "program.hpp"

#include "info/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unistd.h>
#include <utility>

namespace barmap::test {
namespace {

std::vector<std::string> names(nlohmann::json const& found) {
    std::vector<std::string> result;
    for (auto const& row : found)
        result.push_back(row.at("name"));
    return result;
}

std::vector<std::string> const every_backend{"gdrdrv", "dmabuf", "rm", "vulkan"};

TEST(info, without_a_gpu_lists_every_backend_as_absent) {
    outcome const run = barmap_without_gpu("info --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    auto const backends = rows(run, "kind", "backend");
    EXPECT_EQ(names(backends), every_backend);
    for (auto const& backend : backends) {
        EXPECT_EQ(backend.at("state"), "absent");
        EXPECT_EQ(backend.at("allocates"), false) << backend.at("name");
        EXPECT_EQ(backend.at("events"), false) << backend.at("name");
        EXPECT_FALSE(backend.at("reason").get<std::string>().empty());
        EXPECT_FALSE(backend.at("advice").get<std::string>().empty());
    }
    EXPECT_TRUE(run.json().at("machine").at("gpu").is_null());
    EXPECT_FALSE(rows(run, "kind", "copy_routine").empty());
}

TEST(info, without_a_gpu_is_also_text) {
    outcome const run = barmap_without_gpu("info");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.out.find("No GPU"), std::string::npos) << run.out;
    // Said once, and not of each backend.
    EXPECT_EQ(run.out.find("install NVIDIA"), run.out.rfind("install NVIDIA")) << run.out;
    EXPECT_EQ(run.out.find("allocates"), std::string::npos) << run.out;
}

class summary : public testing::TestWithParam<std::pair<std::string, int>> {};

TEST_P(summary, begins_with_the_verdict_and_is_short) {
    auto const& [environment, lines] = GetParam();
    outcome const run = barmap("info", environment);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out.substr(0, run.out.find('\n')), "cudaMalloc memory can be mapped, by dmabuf");
    EXPECT_LE(std::count(run.out.begin(), run.out.end(), '\n'), lines) << run.out;
}

// Equal GPUs share their lines. What copies at which size is measured, and may differ.
INSTANTIATE_TEST_SUITE_P(
    info, summary,
    testing::Values(std::pair(std::string(), 10),
                    std::pair(std::string("BARMAP_SIM_DEVICES=3 BARMAP_ENGINE=none"), 10 + 2)));

TEST(info, verbose_gives_reasons_routines_and_variables) {
    outcome const brief = barmap("info"), verbose = barmap("info --verbose");
    for (char const* detail : {"its self-test moved", "avx512f", "BARMAP_BACKEND", "copies by"}) {
        EXPECT_EQ(brief.out.find(detail), std::string::npos) << detail;
        EXPECT_NE(verbose.out.find(detail), std::string::npos) << detail;
    }
}

TEST(info, advises_where_cuda_malloc_memory_cannot_be_mapped) {
    outcome const run = barmap("info", "BARMAP_SIM_DRIVER=580");
    EXPECT_EQ(run.out.substr(0, run.out.find('\n')), "no GPU memory can be mapped") << run.out;
    for (char const* backend : {"\ngdrdrv ", "\ndmabuf ", "\nrm ", "\nvulkan ", " -> "})
        EXPECT_NE(run.out.find(backend), std::string::npos) << run.out;
}

// By failing at each turn, calls of CUDA's hide a GPU, its copies or nothing; the rest is told.
TEST(info, a_call_that_fails_ends_one_line_only) {
    int told = 0;
    for (char const* call :
         {"cuInit", "cuDeviceGetCount", "cuCtxPushCurrent_v2", "cuDriverGetVersion",
          "cuEventCreate", "cuEventQuery", "cuEventRecord", "cuMemAlloc_v2", "cuMemHostRegister_v2",
          "cuMemCreate", "cuMemGetHandleForAddressRange", "cuMemcpyDtoHAsync_v2", "cuStreamCreate"})
        for (char const* turn : {":999:1", ":999:2"}) {
            outcome const run =
                barmap("info --json", std::string("BARMAP_SIM_FAIL=") + call + turn);
            ASSERT_EQ(run.exit_code, 0) << call << turn << run.err;
            EXPECT_FALSE(rows(run, "kind", "copy_routine").empty()) << call << turn;
            auto const gpus = rows(run, "kind", "gpu");
            if (!gpus.empty() && !gpus[0].at("problems").empty())
                continue;
            EXPECT_EQ(names(rows(run, "kind", "backend")), every_backend) << call << turn;
            EXPECT_EQ(run.json().at("engines").size(), 2u) << call << turn;
            EXPECT_FALSE(run.json().at("batches").empty()) << call << turn;
            ++told;
        }
    EXPECT_GT(told, 20) << "of 26, nearly all leave the GPU's lines";
}

// What one GPU does not tell is its problem; the other's is told.
TEST(info, a_gpu_that_cannot_be_opened_is_a_problem_of_its_own) {
    outcome const run =
        barmap("info --json", "BARMAP_SIM_DEVICES=2 BARMAP_SIM_FAIL=cuDeviceGetName:999:1");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    auto const gpus = rows(run, "kind", "gpu");
    ASSERT_EQ(gpus.size(), 2u);
    ASSERT_EQ(gpus[0].at("problems").size(), 1u);
    EXPECT_NE(gpus[0].at("problems")[0].get<std::string>().find("cannot read the GPU's name"),
              std::string::npos)
        << gpus[0];
    EXPECT_EQ(gpus[1].at("problems").size(), 0u);
    EXPECT_EQ(rows(run, "kind", "backend").size(), every_backend.size());
    outcome const text = barmap("info", "BARMAP_SIM_FAIL=cuDeviceGetName:999:1");
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_EQ(text.out.find("it is unknown whether GPU memory can be mapped"), 0u) << text.out;
    EXPECT_NE(text.out.find("\nproblem "), std::string::npos) << text.out;
}

TEST(info, tells_where_the_structures_of_the_driver_come_from) {
    outcome const run = barmap("info --verbose");
    EXPECT_NE(run.out.find("structures of the kernel driver "), std::string::npos) << run.out;
    using tool::describe_series;
    EXPECT_EQ(describe_series(""), "unknown");
    EXPECT_EQ(describe_series("580.159.04"), "580.159.04: known from NVIDIA's headers");
    EXPECT_EQ(describe_series("610.1"),
              "610.1: known from other projects' tables, not from NVIDIA's headers");
    EXPECT_EQ(describe_series("620.6"),
              "620.6: not known to this barmap; off: the copy engine channel, and the PCIe path to "
              "GPUs with a coherent link");
}

TEST(info, without_a_gpu_other_subcommands_exit_3) {
    outcome const run = barmap_without_gpu("lat");
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_NE(run.err.find("BARMAP_SIM=1"), std::string::npos) << run.err;
}

TEST(info, tells_the_simulated_gpu) {
    outcome const run = barmap("info --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    nlohmann::json const all = run.json();
    for (char const* member : {"barmap", "command", "machine", "results"})
        EXPECT_TRUE(all.contains(member)) << member;
    for (char const* member : {"cpu", "kernel", "gpu", "driver", "backend", "simulated"})
        EXPECT_TRUE(all.at("machine").contains(member)) << member;
    EXPECT_EQ(all.at("machine").at("simulated"), true);
    EXPECT_EQ(names(rows(run, "kind", "backend")), every_backend);
    for (auto const& backend : rows(run, "kind", "backend"))
        EXPECT_EQ(backend.at("allocates"), true) << backend.at("name");
    ASSERT_EQ(rows(run, "kind", "gpu").size(), 1u);
    EXPECT_EQ(rows(run, "kind", "gpu")[0].at("simulated"), true);
    auto const queues = rows(run, "kind", "kernel_queue");
    ASSERT_EQ(queues.size(), 1u);
    EXPECT_EQ(queues[0].at("usable"), false);
    EXPECT_NE(queues[0].at("reason").get<std::string>().find("simulated GPU"), std::string::npos);
}

TEST(info, tells_each_of_several_gpus) {
    outcome const run = barmap("info --json", "BARMAP_SIM_DEVICES=3");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(rows(run, "kind", "gpu").size(), 3u);
    EXPECT_EQ(rows(run, "kind", "backend").size(), 3 * every_backend.size());
}

TEST(info, shows_each_variable_and_where_its_value_is_from) {
    outcome const run = barmap("info --json", "BARMAP_LOG=info BARMAP_COPY=");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    auto const variables = rows(run, "kind", "variable");
    for (char const* name : {"BARMAP_BACKEND", "BARMAP_COPY", "BARMAP_REQUIRE", "BARMAP_LOG",
                             "BARMAP_SIM", "BARMAP_SIM_LIBRARY", "BARMAP_SIM_HIP_LIBRARY"}) {
        auto const found = rows(run, "name", name);
        ASSERT_EQ(found.size(), 1u) << name;
        for (char const* member : {"value", "from", "allowed", "meaning"})
            EXPECT_FALSE(found[0].at(member).get<std::string>().empty()) << name << member;
    }
    EXPECT_EQ(rows(run, "name", "BARMAP_LOG")[0].at("value"), "info");
    EXPECT_EQ(rows(run, "name", "BARMAP_LOG")[0].at("from"), "environment");
    EXPECT_EQ(rows(run, "name", "BARMAP_COPY")[0].at("value"), "auto");
    EXPECT_EQ(rows(run, "name", "BARMAP_COPY")[0].at("from"), "default");
    outcome const text = barmap_without_gpu("info --verbose");
    EXPECT_NE(text.out.find("BARMAP_BACKEND"), std::string::npos) << text.out;
}

TEST(info, shows_the_numbers_behind_choices) {
    outcome const run = barmap("info --json", "BARMAP_POLICY=short_pieces=3");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    auto const found = rows(run, "kind", "policy");
    EXPECT_GT(found.size(), 50u);
    for (auto const& each : found)
        for (char const* member : {"name", "unit", "from", "why"})
            EXPECT_FALSE(each.at(member).get<std::string>().empty()) << each << member;
    auto const changed = rows(run, "name", "short_pieces");
    ASSERT_EQ(changed.size(), 1u);
    EXPECT_EQ(changed[0].at("value"), 3);
    EXPECT_EQ(changed[0].at("from"), "BARMAP_POLICY");
    outcome const text = barmap_without_gpu("info --verbose");
    EXPECT_NE(text.out.find("engines_from_to_cpu"), std::string::npos) << text.out;
    EXPECT_EQ(barmap("demo", "BARMAP_POLICY=short_pieces").exit_code, 3);
}

TEST(info, shows_a_value_that_is_not_allowed) {
    outcome const run = barmap("info --json", "BARMAP_LOG=loud");
    EXPECT_EQ(rows(run, "name", "BARMAP_LOG")[0].at("from"), "ignored: not allowed");
    outcome const text = barmap("info", "BARMAP_LOG=loud");
    EXPECT_NE(unfolded(text.out).find("BARMAP_LOG (ignored: not allowed)"), std::string::npos)
        << text.out;
    EXPECT_NE(text.err.find("allowed are off, info, debug"), std::string::npos) << text.err;
    EXPECT_EQ(barmap("demo", "BARMAP_ENGINE=loud").exit_code, 3);
}

TEST(info, writes_its_json_to_a_file) {
    auto const file = std::filesystem::temp_directory_path() /
                      ("barmap-info-" + std::to_string(getpid()) + ".json");
    outcome const run = barmap("info --output " + file.string());
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.out.find("backend"), std::string::npos);
    std::ifstream stream(file);
    EXPECT_NO_THROW((void)nlohmann::json::parse(stream).at("results"));
    std::filesystem::remove(file);
}

} // namespace
} // namespace barmap::test
