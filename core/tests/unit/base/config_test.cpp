// SPDX-License-Identifier: MIT
#include "base/config.hpp"
#include "base/unknown_variables.hpp"
#include "shared/caught.hpp"
#include "system/nearest.hpp"
#include "system/simulation.hpp"

#include "base/log_lines.hpp"

#include <barmap/error.hpp>

#include <array>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace barmap::config {
namespace {

class config_test : public testing::Test {
protected:
    void SetUp() override {
        set_.clear();
        ::unsetenv("BARMAP_SIM"); // which whoever runs this may have set
    }
    void TearDown() override { read_again(); }

    static void set(std::string const& name, std::string const& value) {
        set_[name] = value;
        read_again([](char const* wanted) {
            auto const found = set_.find(wanted);
            return found == set_.end() ? nullptr : found->second.c_str();
        });
    }

    static setting_report shown(std::string_view name) {
        for (setting_report const& each : settings())
            if (each.name == name)
                return each;
        ADD_FAILURE() << name;
        return {};
    }

    static inline std::map<std::string, std::string, std::less<>> set_;
};

TEST_F(config_test, has_defaults) {
    set("UNRELATED", "1");
    values const& now = current();
    EXPECT_TRUE(now.backend.empty() && now.copy.empty() && now.require.empty());
    EXPECT_EQ(now.log, log_level::off);
    EXPECT_FALSE(now.simulate);
    EXPECT_TRUE(now.sim_library.empty() && now.sim_hip_library.empty());
    EXPECT_NO_THROW(expect_settings());
    for (setting_report const& each : settings()) {
        EXPECT_EQ(each.from, "default") << each.name;
        EXPECT_FALSE(each.value.empty() || each.allowed.empty() || each.meaning.empty())
            << each.name;
    }
}

TEST_F(config_test, takes_each_variable) {
    set("BARMAP_BACKEND", "rm");
    set("BARMAP_COPY", "avx2");
    set("BARMAP_ENGINE", "channel");
    set("BARMAP_DOORBELL", "cpu");
    set("BARMAP_REQUIRE", ",rm,,dmabuf,");
    set("BARMAP_POLICY", "short_pieces=3");
    set("BARMAP_LOG", "info");
    set("BARMAP_SIM", "1");
    set("BARMAP_SIM_LIBRARY", "/a/libcuda.so.1");
    set("BARMAP_SIM_HIP_LIBRARY", "/a/libamdhip64.so.6");
    values const& now = current();
    EXPECT_EQ(now.backend, "rm");
    EXPECT_EQ(now.copy, "avx2");
    EXPECT_EQ(now.engine, "channel");
    EXPECT_TRUE(now.rings_by_cpu);
    EXPECT_EQ(now.require, (std::vector<std::string>{"rm", "dmabuf"}));
    EXPECT_EQ(now.policy.short_pieces, 3u);
    EXPECT_EQ(now.log, log_level::info);
    EXPECT_EQ(log_threshold(), log_level::info);
    EXPECT_TRUE(now.simulate);
    EXPECT_EQ(now.sim_library, "/a/libcuda.so.1");
    EXPECT_EQ(now.sim_hip_library, "/a/libamdhip64.so.6");
    for (setting_report const& each : settings()) {
        EXPECT_EQ(each.from, "environment") << each.name;
        EXPECT_EQ(each.value, set_[std::string(each.name)]);
    }
    set("BARMAP_LOG", "debug");
    EXPECT_EQ(current().log, log_level::debug);
    EXPECT_EQ(now.log, log_level::info) << "what was handed out stays";
}

TEST_F(config_test, takes_nothing_and_the_default_by_name_for_the_default) {
    for (char const* name : {"BARMAP_BACKEND", "BARMAP_COPY", "BARMAP_LOG", "BARMAP_SIM"})
        set(name, "");
    EXPECT_EQ(shown("BARMAP_LOG").from, "default");
    EXPECT_NO_THROW(expect_settings());
    set("BARMAP_BACKEND", "auto");
    set("BARMAP_COPY", "auto");
    set("BARMAP_LOG", "off");
    set("BARMAP_REQUIRE", "none");
    set("BARMAP_SIM", "0");
    EXPECT_TRUE(current().backend.empty() && current().copy.empty() && current().require.empty());
    EXPECT_EQ(current().log, log_level::off);
    EXPECT_FALSE(current().simulate);
    EXPECT_NO_THROW(expect_settings());
}

TEST_F(config_test, tells_one_value_unless_it_is_the_default) {
    set("BARMAP_SIM", "1");
    EXPECT_EQ(setting("BARMAP_SIM"), "1");
    EXPECT_EQ(setting("BARMAP_ENGINE"), std::nullopt);
    std::string_view const kept = *setting("BARMAP_SIM");
    set("BARMAP_ENGINE", "auto");
    EXPECT_EQ(setting("BARMAP_ENGINE"), std::nullopt) << "the default by its name";
    set("BARMAP_ENGINE", "none");
    EXPECT_EQ(setting("BARMAP_ENGINE"), "none");
    set("BARMAP_SIM", "maybe");
    EXPECT_EQ(setting("BARMAP_SIM"), std::nullopt) << "not allowed";
    EXPECT_EQ(setting("BARMAP_NOVEL"), std::nullopt);
    EXPECT_EQ(kept, "1") << "what was handed out stays";
}

TEST_F(config_test, lines_of_the_log_are_printed_from_their_level_on) {
    auto const printed = [](log_level level) {
        testing::internal::CaptureStderr();
        log_line(level, "a decision");
        return testing::internal::GetCapturedStderr();
    };
    for (auto const level : {log_level::off, log_level::info, log_level::debug})
        EXPECT_EQ(printed(level), "");
    set("BARMAP_LOG", "info");
    EXPECT_EQ(log_threshold(), log_level::info);
    EXPECT_EQ(printed(log_level::info), "barmap info: a decision\n");
    EXPECT_EQ(printed(log_level::debug), "");
    EXPECT_EQ(printed(log_level::off), "");
    set("BARMAP_LOG", "debug");
    EXPECT_EQ(printed(log_level::debug), "barmap debug: a decision\n");
    EXPECT_EQ(printed(log_level::info), "barmap info: a decision\n");
}

TEST_F(config_test, refuses_what_is_not_allowed_and_keeps_the_default) {
    for (auto const& [name, value] : std::vector<std::pair<std::string, std::string>>{
             {"BARMAP_SIM", "yes"}, {"BARMAP_SIM", "2"}}) {
        set_.clear();
        set(name, value);
        EXPECT_FALSE(current().simulate);
        EXPECT_EQ(shown(name).from, "ignored: not allowed");
        SCOPED_TRACE(name + "=" + value);
        error const refusal = test::caught([] { expect_settings(); });
        EXPECT_EQ(refusal.code(), errc::invalid_argument);
        EXPECT_EQ(refusal.operation(), "use " + name + "=" + value);
        EXPECT_EQ(refusal.advice(), "allowed are " + std::string(shown(name).allowed));
    }
}

TEST_F(config_test, takes_no_other_level_of_the_log_and_stops_nothing) {
    for (char const* level : {"warning", "Debug", "1"}) {
        SCOPED_TRACE(level);
        set("BARMAP_LOG", level);
        EXPECT_EQ(current().log, log_level::off);
        EXPECT_EQ(shown("BARMAP_LOG").from, "ignored: not allowed");
        EXPECT_NO_THROW(expect_settings());
    }
    set("BARMAP_SIM", "yes"); // which is still refused, by its own name
    EXPECT_EQ(test::caught([] { expect_settings(); }).operation(), "use BARMAP_SIM=yes");
}

// Where the process is privileged, the system's function finds nothing.
TEST_F(config_test, tells_what_a_privileged_process_ignores) {
    ::setenv("BARMAP_LOG", "debug", 1);
    read_again([](char const*) -> char const* { return nullptr; });
    EXPECT_EQ(shown("BARMAP_LOG").from, "ignored: privileged process");
    EXPECT_EQ(shown("BARMAP_LOG").value, "off");
    EXPECT_EQ(current().log, log_level::off);
    read_again();
    EXPECT_EQ(shown("BARMAP_LOG").from, "environment");
    ::unsetenv("BARMAP_LOG");
}

TEST_F(config_test, is_read_when_first_needed_and_then_kept) {
    read_again();
    ::setenv("BARMAP_COPY", "portable", 1);
    EXPECT_TRUE(current().copy.empty());
    read_again();
    EXPECT_EQ(current().copy, "portable");
    ::unsetenv("BARMAP_COPY");
    EXPECT_EQ(current().copy, "portable");
}

TEST(nearest_test, finds_a_misspelt_name) {
    constexpr std::array<std::string_view, 4> names{"BACKEND", "COPY", "LOG", "SIM_LIBRARY"};
    EXPECT_EQ(os::nearest("BAKCEND", names), "BACKEND");      // exchanged
    EXPECT_EQ(os::nearest("BACKEND_", names), "BACKEND");     // too many
    EXPECT_EQ(os::nearest("BAKEND", names), "BACKEND");       // missing
    EXPECT_EQ(os::nearest("SIM_LIBARRY", names), "SIM_LIBRARY");
    EXPECT_EQ(os::nearest("SIM_LIB", names), "");
    EXPECT_EQ(os::nearest("BACKENDS_S", names), "");          // three
    EXPECT_EQ(os::nearest("FOG", names), "LOG");
    EXPECT_EQ(os::nearest("FOO", names), "") << "two of three letters are no misspelling";
    EXPECT_EQ(os::nearest("", names), "");
    EXPECT_EQ(os::nearest("LOG", {}), "");
}

TEST(unknown_variables_test, names_those_that_nothing_reads) {
    constexpr std::array<std::string_view, 2> librarys{"BARMAP_BACKEND", "BARMAP_LOG"};
    std::array<char const*, 9> const environment{
        "PATH=/bin", "BARMAP_BAKCEND=rm", "BARMAP_LOG=info",  "BARMAP_SIM_DRIVER=580",
        "BARMAP_SIM_DRIVR=580", "BARMAP_TEST_ANYTHING=1", "BARMAP_NOVEL", "MY_BARMAP_LOG=1",
        nullptr};
    EXPECT_EQ(unknown_variables(environment.data(), librarys),
              (std::vector<std::string>{
                  "ignoring the unknown environment variable BARMAP_BAKCEND; did you mean "
                  "BARMAP_BACKEND?",
                  "ignoring the unknown environment variable BARMAP_SIM_DRIVR; did you mean "
                  "BARMAP_SIM_DRIVER?",
                  "ignoring the unknown environment variable BARMAP_NOVEL"}));
    EXPECT_TRUE(unknown_variables(nullptr, librarys).empty()); // after clearenv()
}

TEST(simulation_test, looks_only_where_the_user_says) {
    EXPECT_EQ(os::simulated_library("libcuda.so.1", "/a/libcuda.so.1"),
              std::vector<std::string>{"/a/libcuda.so.1"});
    EXPECT_FALSE(os::simulated_library("libcuda.so.1", "").empty());
}

} // namespace
} // namespace barmap::config
