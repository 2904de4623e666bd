// SPDX-License-Identifier: MIT
#include "base/config.hpp"
#include "shared/caught.hpp"
#include "transfer/engine/channel/host_order.hpp"

#include <barmap/error.hpp>
#include <barmap/report.hpp>

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace barmap {
namespace {

class policy_test : public testing::Test {
protected:
    void TearDown() override { set(""); }

    static void set(char const* assignments) {
        ::setenv("BARMAP_POLICY", assignments, 1);
        config::read_again();
    }
    static policy_report shown(std::string_view name) {
        auto const all = policies();
        auto const found = std::ranges::find(all, name, &policy_report::name);
        EXPECT_NE(found, all.end()) << name;
        return found == all.end() ? policy_report{} : *found;
    }
};

TEST_F(policy_test, each_number_has_a_unit_and_a_reason) {
    std::set<std::string> names;
    for (policy_report const& each : policies()) {
        EXPECT_TRUE(names.insert(each.name).second) << each.name;
        EXPECT_FALSE(each.unit.empty() || each.why.empty()) << each.name;
        EXPECT_TRUE(each.from == "default" || each.from == "fixed") << each.name;
        EXPECT_TRUE(each.least <= each.value && each.value <= each.most) << each.name;
    }
    EXPECT_GT(names.size(), 50u);
}

TEST_F(policy_test, tells_one_value_by_its_name) {
    for (policy_report const& each : policies())
        EXPECT_EQ(policy_value(each.name), each.value) << each.name;
    error const refusal = test::caught([] { (void)policy_value("short_piece"); });
    EXPECT_EQ(refusal.code(), errc::invalid_argument);
    EXPECT_EQ(refusal.operation(), "read the policy short_piece");
    EXPECT_NE(refusal.advice().find("barmap info --verbose"), std::string::npos);
}

// Its own value is in each one's range: what is printed can be set.
TEST_F(policy_test, takes_what_it_shows) {
    std::string all;
    for (policy_report const& each : policies())
        if (each.from != "fixed")
            all += each.name + "=" + std::to_string(each.value) + ",";
    policy::values read{.short_pieces = 77};
    EXPECT_TRUE(policy::take(read, all));
    EXPECT_EQ(read.short_pieces, policy::values{}.short_pieces);
}

TEST_F(policy_test, is_overruled_by_the_variable) {
    set(",short_pieces=3,,large_piece=1099511627776,");
    EXPECT_EQ(config::current().policy.short_pieces, 3u);
    EXPECT_EQ(config::current().policy.large_piece, std::size_t{1} << 40);
    EXPECT_EQ(shown("short_pieces").value, 3u);
    EXPECT_EQ(shown("short_pieces").from, "BARMAP_POLICY");
    EXPECT_EQ(shown("passing_pieces").from, "default");
    EXPECT_EQ(policy_value("short_pieces"), 3u);
    set("short_pieces=3,short_pieces=4"); // the last one counts
    EXPECT_EQ(config::current().policy.short_pieces, 4u);
    EXPECT_NO_THROW(expect_settings());
}

TEST_F(policy_test, refuses_all_of_what_is_wrong_in_a_part) {
    for (std::string const wrong :
         {"short_piece=3", "short_pieces", "short_pieces=", "short_pieces=x", "short_pieces=3 ",
          " short_pieces=3", "short_pieces=-1", "short_pieces=+3", "short_pieces=4097",
          "short_pieces=0x10", "short_pieces=3=4", "=3", "short_pieces=99999999999999999999999",
          "large_piece=0", "part_to_cpu=4095", "both_ways_batch=0", "checked_pieces=1",
          "engines_from_to_cpu=2048", "short_pieces=3;passing_pieces=4"}) {
        SCOPED_TRACE(wrong);
        set(("passing_pieces=7," + wrong).c_str());
        EXPECT_EQ(config::current().policy.short_pieces, policy::values{}.short_pieces);
        EXPECT_EQ(config::current().policy.passing_pieces, policy::values{}.passing_pieces);
        error const refusal = test::caught([] { expect_settings(); });
        EXPECT_EQ(refusal.code(), errc::invalid_argument);
        EXPECT_EQ(refusal.operation(), "use BARMAP_POLICY=passing_pieces=7," + wrong);
        EXPECT_NE(refusal.advice().find("barmap info --json"), std::string::npos);
    }
}

TEST_F(policy_test, decides_which_batches_are_sorted) {
    using engine::host_order;
    EXPECT_FALSE(host_order::suits(10, 10 * 2048));
    set("sorted_pieces=10,sorted_piece=2048");
    EXPECT_TRUE(host_order::suits(10, 10 * 2048));
    EXPECT_FALSE(host_order::suits(9, 9 * 2048));
    EXPECT_FALSE(host_order::suits(10, 10 * 2048 + 1));
    std::vector<copy_piece> list;
    for (std::uintptr_t i = 0; i < 10; ++i)
        list.push_back({(10 - i) << 22, i << 30, 2048});
    engine::host_order order;
    EXPECT_FALSE(order.find(list, &copy_piece::to));
    set("sorted_parts=10");
    EXPECT_TRUE(order.find(list, &copy_piece::to));
}

} // namespace
} // namespace barmap
