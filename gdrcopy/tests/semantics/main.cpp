// SPDX-License-Identifier: MIT
#include "semantics/child.hpp"

#include <gtest/gtest.h>
#include <string_view>

int main(int count, char** arguments) {
    if (count == 3 && std::string_view(arguments[1]) == "--child")
        return barmap::dropin::act_as_child(arguments[2]);
    ::testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}
