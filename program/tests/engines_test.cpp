// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <gtest/gtest.h>

namespace barmap::test {
namespace {

nlohmann::json member(outcome const& run, char const* name) {
    return run.json().at(name);
}

nlohmann::json engine_named(outcome const& run, std::string const& name) {
    nlohmann::json const engines = member(run, "engines");
    for (auto const& each : engines)
        if (each.at("name") == name)
            return each;
    return {};
}

TEST(info_engines, are_listed_with_their_state) {
    outcome const run = barmap("info --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    ASSERT_EQ(member(run, "engines").size(), 2u);
    nlohmann::json const channel = engine_named(run, "channel"),
                         driver = engine_named(run, "driver");
    EXPECT_EQ(channel.at("state"), "absent") << channel;
    EXPECT_FALSE(channel.at("reason").get<std::string>().empty());
    EXPECT_FALSE(channel.at("advice").get<std::string>().empty());
    EXPECT_EQ(driver.at("state"), "usable") << driver;
    EXPECT_GT(driver.at("start_us"), 0.0);
    for (char const* counter : {"copies", "bytes", "failures", "gpu"})
        EXPECT_EQ(driver.at(counter), 0) << counter;
}

TEST(info_engines, say_what_copies_batches) {
    outcome const run = barmap("info --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    nlohmann::json const batches = member(run, "batches");
    ASSERT_EQ(batches.size(), 2u) << batches;
    EXPECT_EQ(batches[0].at("name"), "channel");
    EXPECT_EQ(batches[0].at("state"), "absent");
    EXPECT_EQ(batches[1].at("name"), "driver");
    EXPECT_EQ(batches[1].at("state"), "usable");
    EXPECT_NE(batches[1].at("reason").get<std::string>().find(" call"), std::string::npos);

    outcome const none = barmap("info --json", "BARMAP_ENGINE=none");
    ASSERT_EQ(none.exit_code, 0) << none.err;
    ASSERT_EQ(member(none, "batches").size(), 1u);
    EXPECT_EQ(member(none, "batches")[0].at("state"), "absent");
    EXPECT_NE(member(none, "batches")[0].at("advice").get<std::string>().find("BARMAP_ENGINE"),
              std::string::npos);
}

TEST(info_engines, have_crossovers_for_each_direction_and_kind_of_memory) {
    outcome const run = barmap("info --json", "BARMAP_ENGINE=driver");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    // A forced engine takes all that is not too small for any.
    std::vector<std::string> found;
    nlohmann::json const crossovers = member(run, "crossovers");
    for (nlohmann::json const& each : crossovers)
        if (each.at("backend") == "dmabuf")
            found.push_back(each.at("direction").get<std::string>() + ", " +
                            each.at("host").get<std::string>() +
                            (each.at("from_bytes") == 0 ? ": " : ", larger: ") +
                            each.at("method").get<std::string>());
    EXPECT_EQ(found, (std::vector<std::string>{
                         "to the GPU, pageable: mapping", "to the GPU, pageable, larger: driver",
                         "to the GPU, pinned: mapping", "to the GPU, pinned, larger: driver",
                         "to the CPU, pageable: mapping", "to the CPU, pageable, larger: driver",
                         "to the CPU, pinned: mapping", "to the CPU, pinned, larger: driver"}));
}

TEST(info_engines, none_leaves_all_to_the_mapping) {
    outcome const run = barmap("info --json", "BARMAP_ENGINE=none");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(member(run, "engines").size(), 2u);
    nlohmann::json const crossovers = member(run, "crossovers");
    EXPECT_EQ(crossovers.size(), 4u) << crossovers;
    for (auto const& each : crossovers)
        EXPECT_EQ(each.at("method"), "mapping");
}

TEST(info_engines, are_also_text) {
    outcome const run = barmap("info --verbose", "BARMAP_ENGINE=driver");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.out.find("copy engine"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("mapping; driver from "), std::string::npos) << run.out;
    EXPECT_LT(run.out.find("copy engine"), run.out.find("mapping; driver from ")) << run.out;
}

// CUDA may free such memory while it is copied, and the engine `driver` cannot hold it.
TEST(info_engines, say_which_of_them_copies_no_cuda_malloc_memory) {
    outcome const rows = barmap("info --json", "BARMAP_ENGINE=driver");
    ASSERT_EQ(rows.exit_code, 0) << rows.err;
    for (auto const& each : member(rows, "crossovers"))
        EXPECT_EQ(each.at("cuda_malloc"), each.at("method") == "mapping") << each;
    std::string const text = unfolded(barmap("info --verbose", "BARMAP_ENGINE=driver").out);
    EXPECT_NE(text.find("; driver copies no cudaMalloc memory"), std::string::npos) << text;
    EXPECT_NE(text.find("mapping; driver from 32 KiB, not of cudaMalloc memory"), std::string::npos)
        << text;
    std::string const without = barmap("info --verbose", "BARMAP_ENGINE=none").out;
    EXPECT_EQ(without.find("driver copies no"), std::string::npos) << without;
    EXPECT_EQ(without.find("not of cudaMalloc"), std::string::npos) << without;
}

TEST(info_engines, a_forced_one_that_is_not_usable_is_the_gpus_problem) {
    outcome const run = barmap("info --json", "BARMAP_ENGINE=channel");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.out.find("copy engine channel"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("not available on this machine; "), std::string::npos) << run.out;
    outcome const unknown = barmap("info", "BARMAP_ENGINE=nonsense");
    EXPECT_EQ(unknown.exit_code, 3);
    EXPECT_NE(unknown.err.find("channel, driver"), std::string::npos) << unknown.err;
}

TEST(info_engines, without_a_gpu_are_absent) {
    outcome const run = barmap_without_gpu("info --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    nlohmann::json const engines = member(run, "engines");
    ASSERT_EQ(engines.size(), 2u);
    for (auto const& each : engines) {
        EXPECT_EQ(each.at("state"), "absent");
        EXPECT_TRUE(each.at("gpu").is_null());
        EXPECT_FALSE(each.at("reason").get<std::string>().empty());
    }
    EXPECT_TRUE(member(run, "crossovers").empty());
}

TEST(lat_engines, has_every_method_with_either_kind_of_memory) {
    outcome const run =
        barmap("lat --compare --sizes 64,64K,2M --iterations 3 --budget 0.01 --json",
               "BARMAP_ENGINE=driver");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    for (char const* host : {"pageable", "pinned"}) {
        for (char const* method : {"adaptive", "driver", "cuMemcpy"}) {
            auto const found = rows(run, "method", std::string(method) + " " + host);
            EXPECT_EQ(found.size(), 6u) << method << host;
            for (auto const& row : found) {
                EXPECT_EQ(row.at("host"), host);
                EXPECT_LE(row.at("p50_ns"), row.at("p99_ns"));
                EXPECT_GE(row.at("samples"), 1);
            }
        }
        EXPECT_TRUE(rows(run, "method", std::string("channel ") + host).empty());
    }
    // Loads end at 1 MiB, stores do not.
    for (char const* method : {"auto", "auto pinned", "portable"})
        EXPECT_EQ(rows(run, "method", method).size(), 5u) << method;
    EXPECT_EQ(rows(run, "measurement", "choice").size(), 5u);
}

TEST(lat_engines, says_by_what_an_adaptive_copy_went_and_what_was_best) {
    // The engine cannot hold memory of cudaMalloc, the kind `device`.
    struct choice {
        std::string engine, memory;
    };
    for (auto const& [engine, memory] :
         {choice{"driver", "vmm"}, choice{"driver", "device"}, choice{"none", "vmm"}}) {
        bool const by_engine = engine == "driver" && memory != "device";
        outcome const run = barmap(
            "lat --compare --sizes 64,2M --iterations 3 --budget 0.01 --json --memory " + memory,
            "BARMAP_ENGINE=" + engine);
        ASSERT_EQ(run.exit_code, 0) << run.err;
        auto const verdicts = rows(run, "measurement", "adaptive");
        EXPECT_EQ(verdicts.size(), 8u);
        for (auto const& verdict : verdicts) {
            bool const large = verdict.at("size") == 2 << 20;
            EXPECT_EQ(verdict.at("adaptive_method"), large && by_engine ? "driver" : "mapping")
                << verdict;
            EXPECT_GT(verdict.at("adaptive_over_best"), 0.0);
            std::string const best = verdict.at("best");
            EXPECT_EQ(best.find("adaptive"), std::string::npos) << verdict;
        }
        EXPECT_EQ(rows(run, "method", "driver pinned").empty(), engine == "none");
    }
}

TEST(lat_engines, samples_adaptive_copies_as_the_mapping_s) {
    // Where the mapping's take less than a microsecond, and the engine's more.
    outcome const run = barmap("lat --compare --sizes 64,64K --iterations 3 --budget 0.01 --json",
                               "BARMAP_ENGINE=driver");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    auto const mapping = rows(run, "method", "auto"),
               adaptive = rows(run, "method", "adaptive pinned");
    ASSERT_EQ(adaptive.size(), 4u);
    for (std::size_t i = 0; i < adaptive.size(); ++i)
        EXPECT_EQ(adaptive[i].at("operations_per_sample"), mapping[i].at("operations_per_sample"));
}

TEST(lat_engines, are_also_text) {
    outcome const run =
        barmap("lat --compare --sizes 64,2M --iterations 3 --budget 0.01", "BARMAP_ENGINE=driver");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    for (char const* heading :
         {"adaptive    driver", "pageable  pageable", "pinned  pinned", "/ best", "auto"})
        EXPECT_NE(run.out.find(heading), std::string::npos) << heading << run.out;
}

std::vector<std::string> results_of(outcome const& run, std::string const& memory) {
    std::vector<std::string> found;
    for (auto const& row : rows(run, "memory", memory))
        found.push_back(row.at("backend").get<std::string>() + " " +
                        row.at("result").get<std::string>());
    return found;
}

TEST(check_engines, verifies_each_with_each_kind_of_memory) {
    outcome const run = barmap("check --max-size 1M --json", "BARMAP_ENGINE=driver");
    EXPECT_EQ(run.exit_code, 0) << run.out;
    for (char const* memory : {"copy engine, vmm5, pageable", "copy engine, vmm5, pinned"})
        EXPECT_EQ(results_of(run, memory), std::vector<std::string>{"driver passed"}) << memory;
    for (char const* memory : {"copy engine, device, pageable", "copy engine, device, pinned"}) {
        EXPECT_EQ(results_of(run, memory), std::vector<std::string>{"driver skipped"}) << memory;
        std::string const why = rows(run, "memory", memory)[0].at("detail");
        EXPECT_NE(why.find("copy engine driver: not supported; it cannot hold this memory"), std::string::npos) << why;
    }
    for (char const* memory : {"adaptive copies, pageable", "adaptive copies, pinned"})
        EXPECT_EQ(results_of(run, memory), std::vector<std::string>{"dmabuf passed"}) << memory;
}

TEST(check_engines, skips_one_that_is_absent_and_says_why) {
    outcome const run = barmap("check --max-size 1M --json");
    EXPECT_EQ(run.exit_code, 0) << run.out;
    auto const found = rows(run, "memory", "copy engine");
    ASSERT_EQ(found.size(), 1u) << run.out;
    EXPECT_EQ(found[0].at("backend"), "channel");
    EXPECT_EQ(found[0].at("result"), "skipped");
    EXPECT_NE(found[0].at("detail").get<std::string>().find("; "), std::string::npos);
}

TEST(check_engines, skips_all_where_no_backend_maps_memory) {
    outcome const run = barmap("check --max-size 1M --json", "BARMAP_SIM_DRIVER=580");
    EXPECT_EQ(run.exit_code, 0) << run.out;
    for (char const* memory : {"copy engine, vmm5, pageable", "copy engine, vmm5, pinned"}) {
        EXPECT_EQ(results_of(run, memory), std::vector<std::string>{"driver skipped"}) << memory;
        std::string const why = rows(run, "memory", memory)[0].at("detail");
        EXPECT_NE(why.find("no backend is usable"), std::string::npos) << why;
    }
}

TEST(check_engines, leaves_out_what_is_not_asked_for) {
    outcome const none = barmap("check --max-size 1M --json", "BARMAP_ENGINE=none");
    EXPECT_EQ(none.exit_code, 0) << none.out;
    outcome const backend = barmap("check --max-size 1M --json --backend dmabuf");
    EXPECT_EQ(backend.exit_code, 0) << backend.out;
    for (outcome const* run : {&none, &backend}) {
        EXPECT_EQ(run->out.find("copy engine"), std::string::npos) << run->out;
        EXPECT_EQ(rows(*run, "memory", "adaptive copies, pinned").size(), 1u);
    }
}

TEST(check_engines, one_that_fails_is_replaced_and_told) {
    // After its self-test, whose copies are two each way; the first failure ends this one.
    outcome const run = barmap("check --max-size 1M --json",
                               "BARMAP_ENGINE=driver BARMAP_SIM_FAIL=cuMemcpyAsync:1:1200");
    EXPECT_EQ(run.exit_code, 0) << run.out;
    EXPECT_NE(run.out.find("; 1 late"), std::string::npos) << run.out;
}

TEST(stress_engines, verify_pieces_and_pairs) {
    outcome const run = barmap("stress --memory vmm --threads 2 --iterations 300 --region 256K "
                               "--pieces 3000 --pairs 200 --json",
                               "BARMAP_ENGINE=driver");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const pieces = rows(run, "measurement", "pieces");
    ASSERT_EQ(pieces.size(), 1u);
    EXPECT_EQ(pieces[0].at("engine"), "driver");
    EXPECT_GE(pieces[0].at("pieces"), 3000);
    EXPECT_GT(pieces[0].at("bytes"), 3000);
    EXPECT_EQ(pieces[0].at("memory"), "vmm");
    EXPECT_EQ(pieces[0].at("wrong"), 0);
    auto const pairs = rows(run, "measurement", "pairs");
    ASSERT_EQ(pairs.size(), 2u);
    EXPECT_NE(pairs[0].at("order"), pairs[1].at("order"));
    for (auto const& each : pairs) {
        EXPECT_EQ(each.at("pairs"), 200);
        EXPECT_EQ(each.at("stale"), 0);
        EXPECT_EQ(each.at("passed"), true);
    }
    // The threads' own copies were adaptive ones.
    auto const engines = rows(run, "measurement", "engine");
    ASSERT_EQ(engines.size(), 1u);
    EXPECT_GT(engines[0].at("copies"), 0);
}

TEST(stress_engines, copy_memory_of_barmap_if_they_cannot_hold_that_of_cuda_malloc) {
    outcome const run = barmap("stress --memory device --threads 1 --iterations 1 --region 4K "
                               "--pieces 300 --pairs 20 --json",
                               "BARMAP_ENGINE=driver");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_EQ(rows(run, "memory", "barmap").size(), 3u) << run.out;
    EXPECT_EQ(rows(run, "passed", true).size(), 4u) << run.out;
}

TEST(stress_engines, can_be_left_out) {
    for (char const* environment : {"BARMAP_ENGINE=none", "BARMAP_ENGINE=driver"}) {
        bool const none = environment == std::string("BARMAP_ENGINE=none");
        outcome const run = barmap(std::string("stress --threads 1 --iterations 50 --json") +
                                       (none ? "" : " --pieces 0 --pairs 0"),
                                   environment);
        ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
        EXPECT_TRUE(rows(run, "measurement", "pieces").empty());
        EXPECT_TRUE(rows(run, "measurement", "pairs").empty());
    }
}

TEST(stress_engines, one_that_fails_is_a_failure) {
    for (char const* what : {"--pieces 100 --pairs 0", "--pieces 0 --pairs 100"}) {
        outcome const run =
            barmap(std::string("stress --threads 1 --iterations 1 --region 4K --json ") + what,
                   "BARMAP_ENGINE=driver BARMAP_SIM_FAIL=cuMemcpyAsync:1:40");
        EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
        EXPECT_FALSE(rows(run, "passed", false).empty()) << run.out;
    }
}

} // namespace
} // namespace barmap::test
