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
    outcome const run = barmap("info", "BARMAP_ENGINE=driver");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.out.find("copy engine"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("mapping; driver from "), std::string::npos) << run.out;
    EXPECT_LT(run.out.find("copy engine"), run.out.find("mapping; driver from ")) << run.out;
}

TEST(info_engines, a_forced_one_that_is_not_usable_is_an_error) {
    outcome const run = barmap("info --json", "BARMAP_ENGINE=channel");
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_NE(run.err.find("copy engine channel"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("not available on this machine; "), std::string::npos) << run.err;
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

} // namespace
} // namespace barmap::test
