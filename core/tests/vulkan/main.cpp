// SPDX-License-Identifier: MIT
#include "software_gpu.hpp"

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (!testing::GTEST_FLAG(list_tests))
        barmap::test::choose_software_gpu();
    return RUN_ALL_TESTS();
}
