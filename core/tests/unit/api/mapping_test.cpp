// SPDX-License-Identifier: MIT
// What a mapping refuses to compile, and what one without memory gives.
#include <barmap/mapping.hpp>

#include <gtest/gtest.h>
#include <utility>

namespace barmap {
namespace {

template <class Mapping>
concept gives_a_window = requires(Mapping&& of) {
    { std::forward<Mapping>(of).window() } -> std::same_as<window>;
    { std::forward<Mapping>(of).window(0, 0) } -> std::same_as<window>;
};
template <class Mapping>
concept gives_any = requires(Mapping&& of) {
    std::forward<Mapping>(of).window();
}
|| requires(Mapping&& of) {
    std::forward<Mapping>(of).window(0, 0);
};

TEST(mapping, only_one_with_a_name_gives_windows) {
    EXPECT_TRUE(gives_a_window<mapping&>);
    EXPECT_TRUE(gives_a_window<mapping const&>);
    EXPECT_FALSE(gives_any<mapping>);
    EXPECT_FALSE(gives_any<mapping const>);
}

TEST(mapping, an_empty_one_has_an_empty_window) {
    mapping const map;
    EXPECT_EQ(map.window().size, 0u);
    EXPECT_EQ(map.window(0, 0).data, nullptr);
}

} // namespace
} // namespace barmap
