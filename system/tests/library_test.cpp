// SPDX-License-Identifier: MIT
#include "system/library.hpp"

#include "system/tests/watched_calls.hpp"

#include <array>
#include <filesystem>
#include <gtest/gtest.h>
#include <utility>

namespace barmap::os {
namespace {

constexpr char there[] = "libc.so.6", nowhere[] = "no such library.so";

class library_test : public testing::Test {
protected:
    watched_calls calls_;
    std::string why_;

    library load(std::vector<std::string> const& names) { return library::open(names, why_); }
};

TEST_F(library_test, loads_the_first_that_can_be_loaded) {
    library const loaded = load({nowhere, there});
    EXPECT_TRUE(loaded);
    EXPECT_NE(loaded.symbol("malloc"), nullptr);
    EXPECT_EQ(loaded.symbol("no such symbol"), nullptr);
}

TEST_F(library_test, says_why_none_can) {
    library const missing = load({nowhere});
    EXPECT_FALSE(missing);
    EXPECT_NE(why_.find(nowhere), std::string::npos) << why_;
    EXPECT_EQ(missing.symbol("malloc"), nullptr);
    EXPECT_FALSE(load({}));
}

TEST_F(library_test, closes_once) {
    {
        library first = load({there});
        library second(std::move(first));
        EXPECT_FALSE(first);
        library third;
        third = std::move(second);
        EXPECT_TRUE(third);
    }
    EXPECT_EQ(watched_calls::counts.dlclose, 1);
}

TEST_F(library_test, can_be_abandoned) {
    {
        library loaded = load({there});
        loaded.abandon();
        EXPECT_FALSE(loaded);
    }
    EXPECT_EQ(watched_calls::counts.dlclose, 0);
}

TEST(own_folder_test, is_the_programs) {
    std::filesystem::path const program = std::filesystem::read_symlink("/proc/self/exe");
    EXPECT_EQ(own_folder(), program.parent_path().string()) << "linked statically";
}

} // namespace
} // namespace barmap::os
