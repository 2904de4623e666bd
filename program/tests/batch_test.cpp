// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace barmap::test {
namespace {

std::string const small = "batch --pool 1M --iterations 3 --budget 0.01 --json ";

std::set<std::string> methods_of(nlohmann::json const& found) {
    std::set<std::string> names;
    for (auto const& row : found)
        names.insert(row.at("method"));
    return names;
}

void expect_right(nlohmann::json const& found) {
    ASSERT_FALSE(found.empty());
    for (auto const& row : found) {
        EXPECT_EQ(row.at("wrong_bytes"), 0) << row;
        EXPECT_EQ(row.at("guard_bytes"), 0) << row;
    }
}

TEST(batch, measures_every_method_by_shape_direction_and_order) {
    outcome const run = barmap(small + "--pieces 1,5,64 --sizes 512,777,4K");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const found = rows(run, "measurement", "batch");
    expect_right(found);
    std::set<std::string> const methods = methods_of(found);
    for (char const* name :
         {"batch_queue (driver)", "cuMemcpyAsync loop", "kernel, 4 SMs", "kernel, 32 SMs"})
        EXPECT_TRUE(methods.contains(name)) << name;
    EXPECT_EQ(found.size(), methods.size() * 3 * 3 * 2 * 2);
    for (auto const& row : found) {
        EXPECT_EQ(row.at("bytes"), row.at("pieces").get<int>() * row.at("size").get<int>());
        EXPECT_LE(row.at("min_ns"), row.at("p50_ns"));
        EXPECT_LE(row.at("p50_ns"), row.at("p99_ns"));
        EXPECT_LE(row.at("submit_us").get<double>() * 1000, row.at("p99_ns"));
        EXPECT_GT(row.at("gb_per_s"), 0.0);
        EXPECT_EQ(row.at("samples"), 3);
        EXPECT_EQ(row.at("verified"), true);
        EXPECT_TRUE(row.at("problem").is_null());
    }
    for (char const* direction : {"h2d", "d2h"})
        for (char const* order : {"contiguous", "random"})
            EXPECT_TRUE(std::any_of(found.begin(), found.end(),
                                    [&](auto const& row) {
                                        return row.at("direction") == direction &&
                                               row.at("order") == order;
                                    }))
                << direction << order;
    EXPECT_FALSE(run.json().at("engines").empty());
}

TEST(batch, says_what_is_left_out_and_why) {
    outcome const run = barmap(small + "--pieces 4 --sizes 4K --methods graph,loop");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    auto const found = rows(run, "measurement", "left out");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].at("method"), "graph");
    EXPECT_NE(found[0].at("reason").get<std::string>().find("simulated"), std::string::npos);
    EXPECT_EQ(methods_of(rows(run, "measurement", "batch")).size(), 1u);
    outcome const none = barmap(small + "--pieces 4 --sizes 4K", "BARMAP_ENGINE=none");
    ASSERT_EQ(none.exit_code, 0) << none.err;
    EXPECT_TRUE(methods_of(rows(none, "measurement", "left out")).contains("batch_queue"));
}

TEST(batch, measures_only_what_is_asked_for) {
    outcome const run = barmap(small + "--pieces 4 --sizes 4K --direction to_gpu --order random "
                                       "--methods kernel4");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    auto const found = rows(run, "measurement", "batch");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].at("direction"), "h2d");
    EXPECT_EQ(found[0].at("order"), "random");
    EXPECT_EQ(found[0].at("method"), "kernel, 4 SMs");
}

TEST(batch, leaves_out_batches_that_are_too_large_for_the_pools) {
    outcome const run = barmap(small + "--pieces 1,8,64 --sizes 4K,64K --methods loop");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    for (auto const& row : rows(run, "measurement", "batch"))
        EXPECT_LE(row.at("bytes"), 256 << 10) << row;
    EXPECT_EQ(rows(run, "size", 64 << 10).size(), 4u);
    outcome const none = barmap(small + "--pieces 64 --sizes 64K");
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_NE(none.err.find("--pool"), std::string::npos) << none.err;
}

TEST(batch, has_tables_of_text) {
    outcome const run =
        barmap("batch --pool 1M --iterations 3 --pieces 4 --sizes 4K --budget 0.01");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    for (char const* part : {"d2h random", "h2d contiguous", "4 x 4 KiB", "submit  engine",
                             "us    GB/s", "graph is left out", "simulated GPU"})
        EXPECT_NE(run.out.find(part), std::string::npos) << part << run.out;
}

TEST(batch, a_method_that_fails_is_a_failure) {
    outcome const run =
        barmap(small + "--pieces 4 --sizes 4K --methods loop,kernel4 --direction to_cpu",
               "BARMAP_ENGINE=none BARMAP_SIM_FAIL=cuMemcpyAsync:999:5");
    EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
    auto const failed = rows(run, "method", "cuMemcpyAsync loop");
    ASSERT_FALSE(failed.empty());
    EXPECT_NE(failed[0].at("problem").get<std::string>().find("cuMemcpyAsync"), std::string::npos);
    EXPECT_EQ(failed[0].at("gb_per_s"), 0.0);
    for (auto const& row : rows(run, "method", "kernel, 4 SMs"))
        EXPECT_TRUE(row.at("problem").is_null());
}

TEST(batch, copies_in_both_directions_at_once) {
    outcome const run = barmap(small + "--both --pieces 16 --sizes 512 --order random");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const found = rows(run, "measurement", "both");
    expect_right(found);
    EXPECT_TRUE(methods_of(found).contains("batch_queue (driver)"));
    for (auto const& row : found) {
        EXPECT_GT(row.at("d2h_gb_per_s"), 0.0);
        EXPECT_GT(row.at("h2d_gb_per_s"), 0.0);
        EXPECT_DOUBLE_EQ(row.at("gb_per_s"), row.at("d2h_gb_per_s").get<double>() +
                                                 row.at("h2d_gb_per_s").get<double>());
    }
    EXPECT_TRUE(rows(run, "measurement", "batch").empty());
}

constexpr char two_gpus[] = "BARMAP_SIM_DEVICES=2";

TEST(batch, copies_between_two_gpus_and_inside_one) {
    outcome const run = barmap(small + "--between peer --pieces 16 --sizes 512 --in-flight 2 "
                                       "--methods engine,loop,kernel4,one",
                               two_gpus);
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const found = rows(run, "measurement", "batch");
    expect_right(found);
    for (char const* direction : {"to_peer", "from_peer"}) {
        EXPECT_EQ(rows(run, "direction", direction).size(), 7u) << "one copy has one order";
        for (auto const& row : rows(run, "direction", direction))
            EXPECT_EQ(row.at("in_flight"), 2);
    }
    EXPECT_EQ(rows(run, "method", "one cuMemcpyAsync").size(), 2u);
    outcome const inside = barmap(
        small + "--between inside --pieces 16 --sizes 512 --methods engine --device 1", two_gpus);
    ASSERT_EQ(inside.exit_code, 0) << inside.out << inside.err;
    expect_right(rows(inside, "measurement", "batch"));
    EXPECT_EQ(rows(inside, "direction", "inside").size(), 2u);
}

TEST(batch, other_measurements_are_made_between_gpus_as_well) {
    for (char const* between : {"--between peer --device 1 --peer 0 ", "--between inside "}) {
        SCOPED_TRACE(between);
        outcome const run = barmap(
            small + between + "--both --ordered --check 4 --pieces 16 --sizes 512", two_gpus);
        ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
        auto const both = rows(run, "measurement", "both");
        expect_right(both);
        for (auto const& row : both) {
            EXPECT_GT(row.at("there_gb_per_s"), 0.0);
            EXPECT_GT(row.at("back_gb_per_s"), 0.0);
        }
        expect_right(rows(run, "measurement", "ordered"));
        EXPECT_EQ(rows(run, "measurement", "check").at(0).at("passed"), true);
    }
}

TEST(batch, tells_what_is_no_peer) {
    auto const told = [](char const* arguments, int code, std::string_view words) {
        outcome const run = barmap(std::string("batch ") + arguments, two_gpus);
        EXPECT_EQ(run.exit_code, code) << arguments << run.out;
        EXPECT_NE(run.err.find(words), std::string::npos) << arguments << run.err;
    };
    told("--peer 1", 2, "--between peer");
    told("--between peer --peer 0", 2, "must differ from --device");
    told("--between peer --round-trips 3", 2, "--between host");
    told("--between peer --peer 2", 3, "no usable GPU");
    outcome const apart = barmap("batch --between peer",
                                 "BARMAP_SIM_DEVICES=2 BARMAP_SIM_FAIL=cuCtxEnablePeerAccess:217");
    EXPECT_EQ(apart.exit_code, 3) << apart.out;
    EXPECT_NE(apart.err.find("nvidia-smi topo"), std::string::npos) << apart.err;
}

TEST(batch, measures_from_kernel_to_kernel) {
    outcome const run = barmap(small + "--ordered");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const found = rows(run, "measurement", "ordered");
    expect_right(found);
    for (char const* name : {"batch_queue (driver)", "nothing"})
        EXPECT_EQ(rows(run, "method", name).size(), 2u) << name;
    for (auto const& row : found) {
        EXPECT_EQ(row.at("pieces"), 64);
        EXPECT_EQ(row.at("samples"), 3);
    }
}

TEST(batch, checks_random_batches) {
    outcome const run = barmap("batch --check 12 --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const found = rows(run, "measurement", "check");
    ASSERT_EQ(found.size(), 1u);
    expect_right(found);
    EXPECT_EQ(found[0].at("batches"), 12);
    EXPECT_EQ(found[0].at("batches_beside_copies"), 6);
    EXPECT_GT(found[0].at("pieces"), 12);
    EXPECT_GT(found[0].at("bytes"), found[0].at("pieces"));
    EXPECT_EQ(found[0].at("passed"), true);
    // The same seed makes the same choices, another one others.
    outcome const again = barmap("batch --check 12 --json"),
                  other = barmap("batch --check 12 --seed 2 --json");
    EXPECT_EQ(rows(again, "measurement", "check")[0].at("bytes"), found[0].at("bytes"));
    EXPECT_NE(rows(other, "measurement", "check")[0].at("bytes"), found[0].at("bytes"));
}

TEST(batch, makes_round_trips_in_the_order_of_a_stream) {
    outcome const run = barmap("batch --round-trips 100 --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const found = rows(run, "measurement", "round trips");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].at("round_trips"), 100);
    EXPECT_EQ(found[0].at("early"), 0);
    EXPECT_EQ(found[0].at("stale"), 0);
}

TEST(batch, an_engine_that_fails_is_a_failure) {
    for (auto const& [what, measurement] :
         {std::pair("--check 100", "check"), std::pair("--round-trips 1000", "round trips")}) {
        // After its start, whose copies are fewer.
        outcome const run = barmap(std::string("batch --json ") + what,
                                   "BARMAP_ENGINE=driver BARMAP_SIM_FAIL=cuEventRecord:999:30");
        EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
        auto const found = rows(run, "measurement", measurement);
        ASSERT_EQ(found.size(), 1u);
        EXPECT_EQ(found[0].at("passed"), false);
        EXPECT_NE(found[0].at("problem").get<std::string>().find("batch"), std::string::npos);
    }
}

TEST(batch, does_several_things_in_one_run) {
    outcome const run = barmap("batch --check 2 --round-trips 2");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    for (char const* part : {"2 batches", "2 round trips", "passed"})
        EXPECT_NE(run.out.find(part), std::string::npos) << part << run.out;
}

TEST(batch, needs_an_engine_for_what_only_that_can) {
    for (char const* what : {"--check 1", "--round-trips 1", "--ordered"}) {
        outcome const run = barmap(std::string("batch ") + what, "BARMAP_ENGINE=none");
        EXPECT_EQ(run.exit_code, 3) << what;
        EXPECT_NE(run.err.find("BARMAP_ENGINE"), std::string::npos) << run.err;
    }
}

TEST(batch, may_copy_the_same_pieces_in_each_round) {
    outcome const run = barmap(small + "--same --pieces 16 --sizes 512 --order random");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    expect_right(rows(run, "measurement", "batch"));
}

TEST(batch, measures_beside_a_product_of_matrices) {
    outcome const run = barmap(small + "--beside gemm --pieces 16 --sizes 4K",
                               "LD_LIBRARY_PATH=" BARMAP_FAKE_CUBLAS);
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const found = rows(run, "measurement", "beside gemm");
    expect_right(found);
    for (char const* name : {"one cuMemcpyAsync", "batch_queue (driver)"})
        EXPECT_EQ(rows(run, "method", name).size(), 2u) << name;
    for (auto const& row : found) {
        EXPECT_GT(row.at("over_alone"), 0.0);
        EXPECT_GT(row.at("alone_ns"), 0.0);
        EXPECT_GT(row.at("gb_per_s"), 0.0) << row;
    }
}

TEST(batch, measures_small_copies_beside_batches) {
    outcome const run = barmap(small + "--beside copy --pieces 16 --sizes 4K");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const found = rows(run, "measurement", "beside copy");
    expect_right(found);
    for (char const* batches : {"nothing", "d2h", "h2d", "both"}) {
        auto const beside = rows(run, "batches", batches);
        ASSERT_FALSE(beside.empty()) << batches;
        for (auto const& row : beside) {
            EXPECT_GT(row.at("to_cpu_p50_ns"), 0.0);
            EXPECT_GT(row.at("to_gpu_p50_ns"), 0.0);
            EXPECT_EQ(row.at("gb_per_s") > 0.0, batches != std::string("nothing")) << row;
        }
    }
}

TEST(batch, measures_small_copies_beside_batches_with_host_memory_alone) {
    outcome const run = barmap(small + "--beside copy --between inside");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find("--between host"), std::string::npos) << run.err;
}

TEST(batch, says_where_there_is_no_cublas) {
    std::filesystem::path const directory = testing::TempDir() + "barmap-no-cublas";
    std::filesystem::create_directories(directory);
    for (char const* name : {"libcublas.so.13", "libcublas.so.12"})
        std::ofstream(directory / name) << "no library";
    outcome const run = barmap(small + "--beside gemm --pieces 16 --sizes 4K",
                               "LD_LIBRARY_PATH=" + directory.string());
    EXPECT_EQ(run.exit_code, 3) << run.out;
    EXPECT_NE(run.err.find("cuBLAS"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("LD_LIBRARY_PATH"), std::string::npos) << run.err;
    std::filesystem::remove_all(directory);
}

TEST(batch, a_cublas_that_fails_is_told) {
    outcome const run = barmap(small + "--beside gemm --pieces 16 --sizes 4K",
                               "FAKE_CUBLAS_STATUS=7 LD_LIBRARY_PATH=" BARMAP_FAKE_CUBLAS);
    EXPECT_EQ(run.exit_code, 3) << run.out;
    EXPECT_NE(run.err.find("status 7"), std::string::npos) << run.err;
}

} // namespace
} // namespace barmap::test
